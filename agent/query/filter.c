/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/names/threads.h"
#include "agent/store/run.h"
#include "filter.h"
#include "question.h"

bool filter_passes(const struct filter *filter, struct threads *threads,
	const struct who *who)
{
	return (filter->cpu == EVENT_NONE || filter->cpu == who->cpu) &&
		(!filter->modes || filter->modes >> who->mode & 1) &&
		(!filter->thread[0] || threads_match(threads, who->thread, who->process,
			filter->thread));
}

bool filter_same(const struct filter *a, const struct filter *b)
{
	return a->cpu == b->cpu && a->modes == b->modes && strcmp(a->thread, b->thread) == 0;
}
