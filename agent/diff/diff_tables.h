/* SPDX-License-Identifier: MIT */
/* The forms of a diff that are written. */
#ifndef DIFF_TABLES_H
#define DIFF_TABLES_H

#include <stdint.h>
#include <stdio.h>

struct set_diff;

struct diff_names {			/* of what is compared */
	const char *before, *after;
};

/* `top`: rows at most; 0: all. */
void diff_text(const struct set_diff *diff, const struct diff_names *names, uint32_t top, FILE *to);
void diff_json(const struct set_diff *diff, const struct diff_names *names, uint32_t top, FILE *to);

#endif
