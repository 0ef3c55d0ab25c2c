/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/query/question/filter.h"
#include "filter_of.h"

struct filter filter_of(const char *words)
{
	struct filter filter = { .count = 0 };
	char *error = NULL;

	if (!filter_parse(words, &filter, &error))
		fail_msg("\"%s\" is refused: %s", words, error);
	return filter;
}

void assert_filter(const struct filter *filter, const char *words)
{
	const struct filter wanted = filter_of(words);

	if (!filter_equal(filter, &wanted))
		fail_msg("it is not the filter \"%s\"", words);
}
