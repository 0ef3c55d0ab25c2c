/* SPDX-License-Identifier: MIT */
/* A filter for each value of a few bits of the input. */
#ifndef FUZZED_FILTER_H
#define FUZZED_FILTER_H

#include <stdio.h>

#include "agent/query/question/filter.h"

static inline struct filter fuzzed_filter(unsigned bits, unsigned name)
{
	static const char *const cpus[] = { "", "cpu:0", "!cpu:1|2", "object:e !file:e" };
	static const char *const modes[] = { "", "mode:kernel", "mode:user|idle", "!mode:kernel|softirq" };
	static const char *const threads[] = { "", "thread:1", "!process:a", "under:e" };
	static const char *const names[] = { "", "1", "!a", "e|o" };
	struct filter filter = { .count = 0 };
	char words[128];

	snprintf(words, sizeof(words), "%s %s %s %s", cpus[bits >> 2 & 3], modes[bits >> 4 & 3],
		threads[bits >> 6 & 3], names[name & 3]);
	filter_parse(words, &filter, NULL);
	return filter;
}

#endif
