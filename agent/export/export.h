/* SPDX-License-Identifier: MIT */
/*
 * The answer to one question in one of several formats, each a row of `export_formats` (formats.c). In two steps: what
 * is written is collected, by the thread that asks; then it is written, to a file that appears when it is complete,
 * or to a stream.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/query/query.h"

struct export_source {
	struct query *query;
	const struct query_inputs *inputs;
	const struct question *question;
	const struct table *table;	/* its answer, sorted; NULL but where the format wants it */
};

struct export_result {
	uint64_t weight, stacks;	/* what was written: the sum of its counts, its lines */
	uint64_t samples;		/* that stand behind the weight */
};

struct export_format {
	const char *name;
	const char *ending;		/* of a file's name */
	bool wants_table;		/* with callers; else it asks for stacks */
	bool wants_asker;		/* it is written by the thread that asked, while the source is there */
	/* What is written, as far as the budget of the inputs goes; `options`: the format's own struct. */
	void *(*collect)(const struct export_source *source, const void *options);
	/* False with `error` set, which begins with the name. A stream's own errors are told by the stream. */
	bool (*write)(void *collected, const char *name, FILE *to, struct export_result *result,
		char **error);
	void (*free)(void *collected);
};

/* The last one is followed by NULL. */
extern const struct export_format *const export_formats[];

enum { EXPORT_OPTIONS = 64 };		/* bytes */

/* A format with its options, as its header makes it: who passes it on knows neither. */
struct export_choice {
	const struct export_format *format;
	_Alignas(8) unsigned char options[EXPORT_OPTIONS];
};

struct export_choice export_choose(const struct export_format *format, const void *options,
	size_t size);

/* What was collected. NULL can be freed. */
struct export;
struct export *export_new(const struct export_choice *choice, const struct export_source *source);
void export_free(struct export *export);

/* To a stream, which errors call by that name. */
bool export_put(struct export *export, const char *name, FILE *to, struct export_result *result,
	char **error);

/*
 * To a file. False with `error` set, and no file. Any thread but for a format that wants the asker's, as long as
 * the inputs' symbols and threads are there.
 */
bool export_write(struct export *export, const char *path, struct export_result *result, char **error);

/* The same, in place of nothing: the name as util_file_commit_new gives it, or NULL. */
char *export_write_new(struct export *export, const char *path, struct export_result *result,
	char **error);

#endif
