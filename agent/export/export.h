/* SPDX-License-Identifier: MIT */
/*
 * Writes the answer to a question in one of several formats. Each format is a row of `export_formats` (formats.c). An
 * export has two steps. First the thread that asks collects what is to be written. Then any thread writes it, to a
 * stream or to a file, which appears when it is complete.
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
	const struct table *table;	/* the question's answer, sorted; NULL unless the format wants_table */
};

struct export_result {
	uint64_t weight, stacks;	/* the sum of the counts that were written; how many stacks */
	uint64_t samples;		/* how many samples have this weight */
};

struct export_format {
	const char *name;
	const char *ending;		/* of a file's name, with its dot */
	bool wants_table;		/* it needs the question's table, with callers; if not, it queries by itself */
	bool wants_asker;		/* only the thread that asked may write it, while the source exists */
	/* Collects what is to be written, as far as the budget goes. `options`: the format's own struct. */
	void *(*collect)(const struct export_source *source, const void *options);
	/* False with `error` set, which begins with `name`. The caller checks the stream for errors of its own. */
	bool (*write)(void *collected, const char *name, FILE *to, struct export_result *result,
		char **error);
	void (*free)(void *collected);
};

/* Ends with NULL. */
extern const struct export_format *const export_formats[];

enum { EXPORT_OPTIONS = 64 };		/* bytes */

/* A format with its options, made by the format's header. Those who pass it on know neither. */
struct export_choice {
	const struct export_format *format;
	_Alignas(8) unsigned char options[EXPORT_OPTIONS];
};

/* Copies the options, of EXPORT_OPTIONS bytes at most. */
struct export_choice export_choose(const struct export_format *format, const void *options,
	size_t size);

/* What was collected for one file or stream. export_new collects it in the thread that asks. export_free takes NULL. */
struct export;
struct export *export_new(const struct export_choice *choice, const struct export_source *source);
void export_free(struct export *export);

/* Writes to a stream. `name`: what errors call it. */
bool export_put(struct export *export, const char *name, FILE *to, struct export_result *result,
	char **error);

/*
 * Writes to a file. False with `error` set; then there is no file. Any thread may call it, unless the format
 * wants_asker. The symbols and threads of the inputs must still exist.
 */
bool export_write(struct export *export, const char *path, struct export_result *result, char **error);

/* The same, but it replaces no file: it returns the free name that util_file_commit_new found, or NULL. */
char *export_write_new(struct export *export, const char *path, struct export_result *result,
	char **error);

#endif
