/* SPDX-License-Identifier: MIT */
/* Files made from a query, which appear when they are complete. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/query/query.h"

struct export_result {
	uint64_t weight, stacks;	/* what the file holds: the sum of its counts, its lines */
	uint64_t samples;		/* that stand behind the weight */
};

struct folded_options {
	bool kernel_mark;		/* "_[k]" behind kernel frames: as flame graphs expect */
	bool thread_first;		/* the thread's name as the root frame */
	char root[48];			/* a frame before all, "": none */
};

/* The stacks of a query at one moment. NULL can be freed. */
struct folded;
struct folded *folded_new(struct query *query, const struct query_inputs *inputs,
	const struct question *question, struct folded_options options);
void folded_free(struct folded *folded);

/*
 * `root;...;leaf weight` per line, sorted bytewise, each stack once; the weights add up to the
 * table's of the same question. In names, ';' becomes ':', and a space '_'. False with `error` set,
 * and no file. Any thread, as long as the inputs' symbols and threads are there.
 */
bool folded_write(struct folded *folded, const char *path, struct export_result *result,
	char **error);

/* The same, in place of nothing: the name as util_file_commit_new gives it, or NULL. */
char *folded_write_new(struct folded *folded, const char *path, struct export_result *result,
	char **error);

bool export_folded(const char *path, struct query *query, const struct query_inputs *inputs,
	const struct question *question, struct folded_options options,
	struct export_result *result, char **error);

#endif
