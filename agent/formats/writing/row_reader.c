/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "row_reader.h"

struct row_reader row_reader_open(const struct sample_set *set)
{
	return (struct row_reader) { .set = set, .rows = set->rows ? set->rows->open(set->rows_context) : NULL };
}

bool row_reader_next(struct row_reader *reader, struct set_row *row)
{
	const struct set_sum *sum;

	if (reader->rows)
		return reader->set->rows->next(reader->rows, row);
	if (reader->next_sum == reader->set->sum_count)
		return false;
	sum = &reader->set->sums[reader->next_sum];
	*row = (struct set_row) {
		.time = reader->set->facts.from,
		.sum = reader->next_sum++,
		.samples = sum->samples,
		.weight = sum->weight,
		.ns = sum->ns,
	};
	return true;
}

bool row_reader_close(struct row_reader *reader, char **error)
{
	bool whole = true;

	if (reader->rows) {
		whole = !reader->set->rows->failed(reader->rows);
		reader->set->rows->close(reader->rows);
		reader->rows = NULL;
	}
	return whole || util_fail(error, "the samples could not be read back from their temporary file; try again");
}
