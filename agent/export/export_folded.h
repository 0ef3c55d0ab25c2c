/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, as flame graphs are made of: `root;...;leaf weight` per line, sorted bytewise, each stack once;
 * the weights add up to the table's of the same question. In names, ';' becomes ':', and a space '_'.
 */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include "export.h"

extern const struct export_format export_folded;

struct folded_options {
	bool kernel_mark;		/* "_[k]" behind kernel frames: as flame graphs expect */
	bool thread_first;		/* the thread's name as the root frame */
	char root[48];			/* a frame before all, "": none */
};

_Static_assert(sizeof(struct folded_options) <= EXPORT_OPTIONS, "they fit into a choice");

static inline struct export_choice folded_choice(struct folded_options options)
{
	return export_choose(&export_folded, &options, sizeof(options));
}

#endif
