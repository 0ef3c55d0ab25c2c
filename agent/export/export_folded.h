/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, from which flame graphs are made: a line `root;...;leaf weight` for each stack, sorted bytewise. The
 * weights add up to the weight of the same question's table. In names, ';' becomes ':', and a space becomes '_'.
 */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include "export.h"

extern const struct export_format export_folded;

struct folded_options {
	bool kernel_mark;		/* put "_[k]" behind kernel frames, as flame graphs expect */
	bool thread_first;		/* put the thread's name as the root frame */
	char root[48];			/* a frame before all others; "": none */
};

_Static_assert(sizeof(struct folded_options) <= EXPORT_OPTIONS, "they fit into a choice");

static inline struct export_choice folded_choice(struct folded_options options)
{
	return export_choose(&export_folded, &options, sizeof(options));
}

#endif
