#include <string.h>

#include "filter.h"
#include "query.h"
#include "store.h"
#include "threads.h"

bool filter_passes(const struct filter *filter, struct threads *threads,
	const struct store_key *key)
{
	return (filter->cpu == EVENT_NONE || filter->cpu == key->cpu)
		&& (!filter->modes || filter->modes >> key->mode & 1)
		&& (!filter->thread[0] || threads_match(threads, key->thread, key->process,
			filter->thread));
}

bool filter_same(const struct filter *a, const struct filter *b)
{
	return a->cpu == b->cpu && a->modes == b->modes && strcmp(a->thread, b->thread) == 0;
}
