/* SPDX-License-Identifier: MIT */
/* The barriers of the Linux port's queues, between the samplers of two CPUs and the drainer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/ports/linux/queue.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { CPUS = 2, SIZE = 2, WORDS = 3, ENTRIES = 8 };

static struct {
	struct {
		struct queue queue;
		uint32_t entries[SIZE][WORDS];
	} cpus[CPUS];
	bool news;
} seen;

static void set_up(void)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		seen.cpus[cpu].queue = (struct queue) { 0 };
	seen.news = false;
}

static void put_entries(uint32_t cpu)
{
	struct queue *queue = &seen.cpus[cpu].queue;

	for (int i = 0; i < ENTRIES; i++) {
		if (!queue_has_room(queue, SIZE))
			continue;
		for (int word = 0; word < WORDS; word++)
			seen.cpus[cpu].entries[queue->head % SIZE][word] = queue->head;
		queue_put(queue);
		queue_announce(&seen.news);
	}
}

static void sample_first(void)
{
	put_entries(0);
}

static void sample_second(void)
{
	put_entries(1);
}

static void take_entries(uint32_t cpu)
{
	struct queue *queue = &seen.cpus[cpu].queue;
	uint32_t head = queue_head(queue);

	for (uint32_t at = queue->tail; at != head; at++)
		for (int word = 0; word < WORDS; word++)
			if (seen.cpus[cpu].entries[at % SIZE][word] != at)
				scenario_wrong("an entry is torn");
	queue_drop(queue, head);
}

static void drain(void)
{
	for (int i = 0; i < ENTRIES; i++) {
		queue_take_news(&seen.news);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			take_entries(cpu);
	}
}

static void what_is_left_is_announced(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (seen.cpus[cpu].queue.head != seen.cpus[cpu].queue.tail && !seen.news)
			scenario_wrong("an entry waits, and nobody was told");
}

#define QUEUES .set_up = set_up, .look = what_is_left_is_announced, .memory = &seen, .size = sizeof(seen), \
	.threads = { { .run = sample_first }, { .run = sample_second }, { .run = drain } }

static void pair_15_an_entry_is_whole_when_the_head_shows_it(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { QUEUES });
}

static void pair_16_an_entry_was_read_before_its_room_is_used_again(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { QUEUES });
}

static void pair_17_an_entry_that_was_not_found_is_announced(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { QUEUES });
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_15_an_entry_is_whole_when_the_head_shows_it),
		cmocka_unit_test(pair_16_an_entry_was_read_before_its_room_is_used_again),
		cmocka_unit_test(pair_17_an_entry_that_was_not_found_is_announced),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("queue_barriers", tests, NULL, NULL);
}
