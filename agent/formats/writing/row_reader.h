/* SPDX-License-Identifier: MIT */
/* Reads the samples of a set one by one, in order of time. A set without times is read as one row for each sum. */
#ifndef ROW_READER_H
#define ROW_READER_H

#include <stdbool.h>
#include <stdint.h>

struct sample_set;
struct set_row;
struct set_rows;

struct row_reader {
	const struct sample_set *set;
	struct set_rows *rows;		/* NULL: the set has none */
	uint32_t next_sum;
};

struct row_reader row_reader_open(const struct sample_set *set);
bool row_reader_next(struct row_reader *reader, struct set_row *row);

/* False with `error` set: rows are missing. */
bool row_reader_close(struct row_reader *reader, char **error);

#endif
