/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "thread_names.h"

void thread_names_init(struct thread_names *names, const struct sample_set *set)
{
	bool good = true;

	names->set = set;
	hash_init(&names->by_number, set->budget);
	for (uint32_t i = 0; i < set->thread_count && good; i++)
		if (set->threads[i].id != SET_NONE)
			good = hash_add(&names->by_number, hash_pair(&names->by_number, set->threads[i].id, 0), i);
}

void thread_names_clear(struct thread_names *names)
{
	hash_clear(&names->by_number);
}

uint32_t thread_names_find(const struct thread_names *names, uint64_t number)
{
	uint64_t hash = hash_pair(&names->by_number, number, 0);
	uint32_t at = 0, position;

	while ((position = hash_next(&names->by_number, hash, &at)) != HASH_NONE)
		if (names->set->threads[position].id == number && *names->set->threads[position].name)
			return position;
	return SET_NONE;
}

const char *thread_names_get(const struct thread_names *names, uint64_t number, char text[THREAD_NAME])
{
	uint32_t thread = thread_names_find(names, number);

	if (thread != SET_NONE)
		return names->set->threads[thread].name;
	util_print(text, THREAD_NAME, "thread %" PRIu64, number);
	return text;
}
