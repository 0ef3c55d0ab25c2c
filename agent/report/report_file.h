/* SPDX-License-Identifier: MIT */
/* Writes a report's file in any format, by a job, so that a slow disk delays nothing else. */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/export/export.h"

struct epoch;
struct set_progress;
struct job;

/* Tries whether a file can be written at `path`, and leaves none. Returns why not, in fresh memory; NULL: it can. */
char *report_file_mistake(const char *path);

/*
 * Collects the input, which is of this epoch, and begins to write it. Frees `progress` with the job; NULL: the
 * choice has none.
 */
struct job *report_file_begin(const char *path, struct epoch *epoch, const struct export_input *input,
	const struct export_choice *choice, struct set_progress *progress);

/* Begins to write the range `from` to `to` of the recording in `source`, as a recording. Frees `progress` likewise. */
struct job *report_file_begin_cut(const char *path, struct epoch *epoch, const char *source, uint64_t from,
	uint64_t to, struct set_progress *progress);

/* True: the job is over, and freed. `error` is set when no file was written. */
bool report_file_done(struct job *job, struct export_result *result, char **error);

#endif
