/* SPDX-License-Identifier: MIT */
/* What a user asks about two sets of samples, and the file or text that answers. */
#ifndef DIFF_REQUEST_H
#define DIFF_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/options.h"

struct session_options;

struct diff_request {
	int share, per, by;		/* by: enum group_by */
	int format;			/* -1: that of the file's ending; text without a file */
	bool inlined, flame;
	uint32_t top, memory;		/* memory: MiB; 0: the default */
	const char *filter, *file, *fail_above;	/* NULL: none */
	const struct session_options *names;	/* as in diff_side.h */
};

extern const struct diff_request diff_request_default;
extern const struct option_row diff_request_options[];	/* they fill a diff_request */

/* False with `error` set: it is not known how to write the file, or an option has no effect in it. */
bool diff_request_check(const struct diff_request *request, char **error);

enum diff_outcome { DIFF_DONE, DIFF_FAILED, DIFF_GROWN };

/*
 * Compares two sides, as diff_side.h has them. Writes to the request's file, which appears whole or not at all; else to
 * stdout. DIFF_FAILED with `error` set; DIFF_GROWN, too: all is written, and the share of a row has grown by more than
 * it may.
 */
enum diff_outcome diff_request_do(const struct diff_request *request, const char *before, const char *after,
	char **error);

/* What to say of the file's format, once it is written, as util_file_ends_twice has it; NULL: nothing. */
char *diff_request_remark(const struct diff_request *request);

#endif
