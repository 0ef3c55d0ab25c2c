/* SPDX-License-Identifier: MIT */
/* What a user asks about two sets of samples, and the file or text that answers. */
#ifndef DIFF_REQUEST_H
#define DIFF_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/options.h"

struct diff_request {
	int share, format;		/* format -1: that of the file's ending; text without a file */
	uint32_t top, memory;		/* memory: MiB; 0: the default */
	const char *filter, *file, *fail_above;	/* NULL: none */
};

extern const struct diff_request diff_request_default;
extern const struct option_row diff_request_options[];	/* they fill a diff_request */

/* False with `error` set: it is not known how to write the file. */
bool diff_request_check(const struct diff_request *request, char **error);

/*
 * Compares two sides, as diff_side.h has them. Writes to the request's file, which appears whole or not at all; else to
 * stdout. False with `error` set; also when something has grown by more than it may: this is told once all is written.
 */
bool diff_request_do(const struct diff_request *request, const char *before, const char *after, char **error);

#endif
