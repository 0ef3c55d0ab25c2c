/* SPDX-License-Identifier: MIT */
#include "agent/base/budget.h"
#include "agent/names/threads.h"
#include "agent/store/who.h"
#include "sample_set.h"
#include "set_threads.h"

struct seen_thread {			/* as samples name it */
	uint32_t thread, process;
	uint32_t index;			/* in the set */
};

void set_threads_init(struct set_threads *threads, struct sample_set *set, struct threads *names,
	struct budget *budget)
{
	*threads = (struct set_threads) { .set = set, .names = names, .budget = budget };
	hash_init(&threads->by_who, budget);
}

void set_threads_clear(struct set_threads *threads)
{
	budget_free(threads->budget, threads->list, threads->room * sizeof(*threads->list));
	hash_clear(&threads->by_who);
}

static uint64_t hash_of(const struct set_threads *threads, const struct who *who)
{
	return hash_pair(&threads->by_who, who->thread, who->process);
}

bool set_threads_find(const struct set_threads *threads, const struct who *who, uint32_t *index)
{
	uint64_t hash = hash_of(threads, who);
	uint32_t at = 0, position;

	while ((position = hash_next(&threads->by_who, hash, &at)) != HASH_NONE) {
		const struct seen_thread *seen = &threads->list[position];

		if (seen->thread == who->thread && seen->process == who->process) {
			*index = seen->index;
			return true;
		}
	}
	return false;
}

static uint32_t add(struct set_threads *threads, const struct who *who)
{
	uint32_t owner = threads_owner(threads->names, who->thread, who->process);

	return sample_set_thread(threads->set, &(struct set_thread) {
		.id = who->thread, .process = owner, .name = threads_name(threads->names, who->thread),
		.process_name = threads_process_name(threads->names, owner),
	});
}

bool set_threads_have(struct set_threads *threads, const struct who *who, uint32_t *index)
{
	struct seen_thread *list;

	if (set_threads_find(threads, who, index))
		return true;
	list = budget_array(threads->budget, threads->list, threads->count, &threads->room, sizeof(*list));
	if (!list)
		return false;
	threads->list = list;
	if (!hash_add(&threads->by_who, hash_of(threads, who), threads->count))
		return false;
	*index = add(threads, who);
	list[threads->count++] = (struct seen_thread) {
		.thread = who->thread, .process = who->process, .index = *index,
	};
	return true;
}
