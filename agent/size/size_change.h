/* SPDX-License-Identifier: MIT */
/* What has become of code between two builds. */
#ifndef SIZE_CHANGE_H
#define SIZE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct size_row;
struct size_rows;

enum size_change { SIZE_NEW, SIZE_GROWN, SIZE_SHRUNK, SIZE_GONE, SIZE_SAME, SIZE_CHANGES };

extern const char *const size_change_words[SIZE_CHANGES];

enum size_change size_change_of(const struct size_row *row);
int64_t size_change_bytes(const uint64_t *bytes);	/* after minus before */

struct size_sum {			/* of all rows with the same change */
	size_t rows;
	int64_t bytes;
};

/* The sums of all changes together are what the rows have grown by, to the byte. */
void size_change_sums(const struct size_rows *rows, struct size_sum sums[SIZE_CHANGES]);

/* How much code may grow: bytes, or a share of what it was before. */
struct size_limit {
	double number;
	bool percent;
};

/* Reads such as "2%", "0.5%", "4096". False with "why; what to do" in `error`. */
bool size_limit_read(const char *text, struct size_limit *limit, char **error);
bool size_limit_passed(const struct size_limit *limit, const uint64_t *bytes);	/* it has grown by more */

#endif
