/* SPDX-License-Identifier: MIT */
/* The formats in which code sizes are written: one file for each, and a row of `size_formats`. */
#ifndef SIZE_FORMAT_H
#define SIZE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct code_sizes;
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
const struct size_format *size_format_at(int index);
const struct size_format *size_format_of_file(const char *path);	/* by its ending; NULL: it has none of theirs */

#endif
