/* SPDX-License-Identifier: MIT */
/* A report's file in some format, written beside: a slow disk holds up nothing else. */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include <stdbool.h>

#include "agent/export/export.h"

struct epoch;
struct errand;

/* Why no file can be written there, as far as can be known before there is one; in fresh memory, NULL: it can. */
char *report_file_mistake(const char *path);

/* Of what the epoch has now. */
struct errand *report_file_begin(const char *path, struct epoch *epoch,
	const struct question *question, const struct export_choice *choice);

/* True: it is over, and the errand gone; `error` is set when there is no file. */
bool report_file_done(struct errand *errand, char **error);

#endif
