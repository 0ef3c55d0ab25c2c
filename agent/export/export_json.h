/* SPDX-License-Identifier: MIT */
/*
 * The table, its functions' callers and each CPU's share as JSON. Facts that the asker adds come before them. Its input
 * has a table. Any thread may write it, while the input exists.
 */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include <stdatomic.h>

#include "export.h"

struct json_writer;

extern const struct export_format export_json;

struct json_options {
	void (*facts)(const void *context, struct json_writer *writer);	/* collects members; NULL: none */
	void (*more)(const void *context, struct json_writer *writer);	/* writes those that may be large; likewise */
	const void *context;
	const atomic_bool *stop;	/* true: the asker gives up, and the list of functions ends; NULL: never */
	uint32_t cpus;			/* how many the guest has */
	uint32_t set_aside;		/* the CPU that is set aside to pace the others; EVENT_NONE: none */
};

_Static_assert(sizeof(struct json_options) <= EXPORT_OPTIONS, "they fit into a choice");

static inline struct export_choice json_choice(struct json_options options)
{
	return export_choose(export_formats[EXPORT_JSON], &options, sizeof(options));
}

#endif
