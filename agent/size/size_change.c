/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "size_change.h"
#include "size_rows.h"

const char *const size_change_words[SIZE_CHANGES] = { "new", "grown", "shrunk", "gone", "same" };

enum size_change size_change_of(const struct size_row *row)
{
	uint64_t before = row->bytes[SIZE_BEFORE], after = row->bytes[SIZE_AFTER];

	if (before == after)
		return SIZE_SAME;
	if (!before || !after)
		return before ? SIZE_GONE : SIZE_NEW;
	return after > before ? SIZE_GROWN : SIZE_SHRUNK;
}

int64_t size_change_bytes(const uint64_t *bytes)
{
	return (int64_t)(bytes[SIZE_AFTER] - bytes[SIZE_BEFORE]);
}

void size_change_sums(const struct size_rows *rows, struct size_sum sums[SIZE_CHANGES])
{
	memset(sums, 0, SIZE_CHANGES * sizeof(*sums));
	for (size_t i = 0; i < rows->count; i++) {
		struct size_sum *sum = &sums[size_change_of(&rows->rows[i])];

		sum->rows++;
		sum->bytes += size_change_bytes(rows->rows[i].bytes);
	}
}

bool size_limit_read(const char *text, struct size_limit *limit, char **error)
{
	char *end;

	limit->number = strtod(text, &end);
	limit->percent = *end == '%';
	return (end > text && !end[limit->percent] && isfinite(limit->number) && limit->number >= 0) ||
		util_fail(error, "it is neither bytes nor a share; give such as 4096 or 2%%");
}

bool size_limit_passed(const struct size_limit *limit, const uint64_t *bytes)
{
	double most = limit->percent ? limit->number / 100 * (double)bytes[SIZE_BEFORE] : limit->number;

	return (double)size_change_bytes(bytes) > most;
}
