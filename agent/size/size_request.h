/* SPDX-License-Identifier: MIT */
/* What a user asks about the size of code, and the file or text that answers. */
#ifndef SIZE_REQUEST_H
#define SIZE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/options.h"
#include "size_rows.h"

struct code_sizes;

struct size_request {
	int by, format;			/* format -1: by the file's ending, else text */
	uint32_t top;
	const char *filter, *file, *debug;	/* NULL: none */
	uint32_t memory;		/* MiB; 0: the default */
};

extern const struct size_request size_request_default;
extern const struct option_row size_request_options[];	/* they fill a size_request */

/* Of the objects in the order of the paths. False with `error` set: a part of the request makes no sense. */
bool size_request_check(const struct size_request *request, struct size_asked *asked, char **error);

/* Writes to the request's file, which appears whole or not at all; else to stdout. False with `error` set. */
bool size_request_write(const struct size_request *request, struct code_sizes *sizes, const struct size_asked *asked,
	char **error);

/* What to say of the file's format, once it is written, as util_file_ends_twice has it; NULL: nothing. */
char *size_request_remark(const struct size_request *request);

#endif
