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

struct query;
struct query_inputs;
struct question;
struct sample_log;
struct set_facts;
struct table;

struct export_input {
	struct query *query;
	const struct query_inputs *inputs;
	const struct question *question;
	struct sample_log *log;		/* of these samples, complete; it is held as long as needed; NULL: none */
	const struct table *table;	/* the question's answer, sorted; NULL: the format asks for stacks itself */
	const struct set_facts *facts;	/* what is known of the machine; read by collect alone. Sample sets need them */
};

struct export_result {
	uint64_t weight;		/* the sum of the counts that were written */
	uint64_t stacks;		/* how many stacks; 0 also where the format does not count them */
	uint64_t samples;		/* how many samples have this weight */
};

struct export_format {
	const char *name;
	const char *ending;		/* of a file's name, with its dot */
	const char *about;		/* what it is, in a few words, for the list of formats */
	/* Collects what is to be written, as far as the budget goes. `options`: the format's own struct. */
	void *(*collect)(const struct export_input *input, const void *options);
	/* False with `error` set, which begins with `name`. The caller checks the stream for errors of its own. */
	bool (*write)(void *collected, const char *name, FILE *to, struct export_result *result,
		char **error);
	void (*free)(void *collected);
};

/* The table of formats. */
enum export_id { EXPORT_FOLDED, EXPORT_JSON, EXPORT_CSV, EXPORTS };
extern const struct export_format *const export_formats[EXPORTS];

/* A recording, which is a folder. Whoever has samples or packets writes it (agent/cut): it has names alone. */
extern const struct export_format export_recording;

enum { EXPORT_OPTIONS = 72 };		/* bytes */

/* A format with its options, made by the format's header. Those who pass it on know neither. */
struct export_choice {
	const struct export_format *format;
	_Alignas(8) unsigned char options[EXPORT_OPTIONS];
};

/* The options of each format that writes stacks. */
struct stack_options {
	bool kernel_mark;		/* mark the names of kernel functions, by "_[k]" in text */
	bool thread_first;		/* put the thread's name as the root frame */
	char root[48];			/* a frame before all others; "": none */
};

struct export_choice export_stacks(enum export_id id, struct stack_options options);

/* For a format with options of its own. Copies them, EXPORT_OPTIONS bytes at most. */
struct export_choice export_choose(const struct export_format *format, const void *options,
	size_t size);

/* What was collected for one file or stream. export_new collects it in the thread that asks. export_free takes NULL. */
struct export;
struct export *export_new(const struct export_choice *choice, const struct export_input *input);
void export_free(struct export *export);

/* Writes to a stream. `name`: what errors call it. */
bool export_put(struct export *export, const char *name, FILE *to, struct export_result *result,
	char **error);

/*
 * Writes to a file. False with `error` set; then there is no file. Any thread may call it. The input's table, symbols
 * and threads must still exist.
 */
bool export_write(struct export *export, const char *path, struct export_result *result, char **error);

/* The same, but it replaces no file: it returns the free name that util_file_commit_new found, or NULL. */
char *export_write_new(struct export *export, const char *path, struct export_result *result,
	char **error);

#endif
