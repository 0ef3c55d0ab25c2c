/* SPDX-License-Identifier: MIT */
/* Random samples, names and questions. */
#ifndef RANDOM_GUEST_H
#define RANDOM_GUEST_H

#include <stdint.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/query/question/grouping.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/random.h"
#include "fake_symbols.h"

/* Few functions, so that recursion is frequent. Addresses in the middle of a function and at its beginning. */
static inline uint64_t random_address(struct random *random, uint64_t functions)
{
	return 0x100 * (1 + random_below(random, functions)) + random_below(random, 2) * 8;
}

static inline void random_taken(struct random *random, uint64_t time, struct taken *taken)
{
	*taken = (struct taken) {
		.time = time, .cpu = (uint32_t)random_below(random, 4),
		.thread = (uint32_t)random_below(random, 4),
		.process = (uint32_t)random_below(random, 3),
		.weight = 1 + (uint32_t)random_below(random, 9),
		.mode = (enum mode)random_below(random, MODES),
		.missed = random_below(random, 20) == 0,
		.kernel_cut = random_below(random, 10) == 0,
	};
	if (taken->mode == MODE_KERNEL && random_below(random, 2))
		taken->context = (enum context)random_below(random, CONTEXTS);
	if (taken->mode != MODE_USER)
		taken->kernel_count = (uint32_t)random_below(random, 8);
	if (taken->mode != MODE_IDLE)
		taken->user_count = (uint32_t)random_below(random, 4);
	for (uint32_t i = 0; i < taken->kernel_count; i++)
		taken->kernel[i] = random_address(random, 7);
	for (uint32_t i = 0; i < taken->user_count; i++)
		taken->user[i] = random_address(random, 3);
}

/* Up to three words of each kind, with `!` and `|`. */
static inline struct filter random_filter(struct random *random)
{
	static const char *const words[] = {
		"k", "3", "[", "cpu:0", "cpu:1|3", "cpu:4", "mode:kernel", "mode:user|idle", "mode:idle", "mode:irq",
		"mode:softirq|user", "mode:kernel|irq", "thread:2",
		"thread:boot", "thread:boot|init", "thread:process", "process:1", "process:process|7",
		"object:p1", "object:kernel|nothing", "file:a.c", "file:b|nothing",
		"under:k1", "under:p2|k2", "under:[idle]", "under:unknown",
	};
	char text[128] = "";

	for (size_t count = random_below(random, 4); count > 0; count--) {
		strcat(text, random_below(random, 4) ? " " : " !");
		strcat(text, words[random_below(random, sizeof(words) / sizeof(*words))]);
	}
	return filter_of(text);
}

static inline void random_question(struct random *random, uint64_t now, struct question *question)
{
	static const uint64_t windows[] = { NS_PER_SECOND, 10 * NS_PER_SECOND, 60 * NS_PER_SECOND, UINT64_MAX };
	uint64_t window = windows[random_below(random, 4)];

	question->to = UINT64_MAX;
	question->from = window < now ? now - window : 0;
	if (random_below(random, 6) == 0) {		/* after a zero, or in the past */
		question->from = random_below(random, now + 1);
		question->to = random_below(random, 2) ? UINT64_MAX :
			question->from + random_below(random, 2 * (now - question->from) + 1);
	}
	if (random_below(random, 3) == 0)
		question->filter = random_filter(random);
	question->by = random_below(random, 2) ? GROUP_FUNCTION : (enum group_by)random_below(random, GROUPS);
	question->callers = (question->by == GROUP_FUNCTION || grouping_has_ran(question->by)) &&
		random_below(random, 2);
}

/* Three functions of the kernel tell where in it their stacks were. */
static inline void random_contexts(struct world *world)
{
	static const char *const names[] = { WORLD_TASK, WORLD_IRQ, WORLD_SOFTIRQ };

	for (uint64_t i = 0; i < 3; i++)
		fake_symbols_rename(world->inputs.symbols,
			symbols_function(world->inputs.symbols, EVENT_KERNEL, 0x100 * (5 + i)), names[i]);
}

/* Names that come late: those of a process's functions, those of threads, and the lines of functions. */
static inline void random_names(struct random *random, struct world *world)
{
	static const char *const names[] = { "boot", "init", "worker" };
	const char *name = names[random_below(random, 3)];

	if (random_below(random, 8) == 0)
		fake_symbols_read_lines(world->inputs.symbols, 1 + (uint32_t)random_below(random, 64));
	else if (random_below(random, 2))
		fake_symbols_know(world->inputs.symbols, (uint32_t)random_below(random, 3),
			random_below(random, 2));
	else
		threads_thread(world->inputs.threads, (uint32_t)random_below(random, 4), 1,
			(struct text) { .bytes = name, .size = strlen(name) });
}

#endif
