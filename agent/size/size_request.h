/* SPDX-License-Identifier: MIT */
/* What a user asks about the size of code, and the file or text that answers. */
#ifndef SIZE_REQUEST_H
#define SIZE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

/* ---- size format ---- */

/* The formats in which code sizes are written: one file for each, and a row of `size_formats`. */

struct size_asked;

enum { SIZE_TOP = 30 };			/* rows of a text, where the user has not said how many */

#define SIZE_TOP_UNSET UINT32_MAX	/* the user has not said: SIZE_TOP rows of a text, all of the others */

struct size_format {
	const char *name;		/* as --format takes it */
	const char *ending;		/* of a file's name, with its dot */
	bool rows;			/* it has rows, so --top counts */
	/*
	 * `top`: rows at most, 0: all; or SIZE_TOP_UNSET. False: there is no memory, or nothing to write, which it says
	 * in `nothing`: "why; what to do". The caller checks the stream.
	 */
	bool (*write)(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
		const char **nothing);
};

extern const struct size_format size_text, size_json, size_folded, size_svg;

#define SIZE_FORMAT_NAMES "text|json|folded|svg"	/* in the order of size_format_at */

#endif
