/* SPDX-License-Identifier: MIT */
/* The forms of a diff that are written. */
#ifndef DIFF_TABLES_H
#define DIFF_TABLES_H

#include <stdint.h>
#include <stdio.h>

#include "agent/base/util.h"

struct diff_side;
struct kept_paths;
struct set_diff;

/* The sides that are compared: before, after. */
enum { DIFF_SIDES = 2 };

static inline double diff_seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

/* A picture of B's stacks, and how they have changed; as an HTML page or as SVG. False with `error` set. */
struct diff_look {
	bool html;
	bool flame;			/* roots at the foot */
	const struct kept_paths *kept;	/* what is not among these is merged, on both sides; NULL: nothing is */
};
bool diff_picture(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], struct diff_look look,
	FILE *to, char **error);

/* `top`: rows at most; 0: all. */
void diff_text(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to);
void diff_json(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to);

#endif
