/* SPDX-License-Identifier: MIT */
/*
 * A guest's samples go into the stages and, unchanged, into a list. Each answer of the query is compared with what the
 * list gives when it is walked from end to end.
 */
#ifndef QUERY_WORLD_H
#define QUERY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question/question.h"
#include "agent/wire/event.h"

enum { WORLD_FRAMES = 12 };

struct taken {
	uint64_t time;
	uint32_t cpu, thread, process, weight;
	enum mode mode;
	enum context context;		/* as the guest tells it; CONTEXT_UNTOLD: the functions of the stack do */
	bool missed, kernel_cut;
	uint32_t kernel_count, user_count;
	uint64_t kernel[WORLD_FRAMES], user[WORLD_FRAMES];
};

struct world {
	struct query_inputs inputs;
	struct query *query;
	struct taken *list;
	size_t count, room;
};

/* Functions of the kernel that handle interrupts and softirqs, or switch threads. No others are told by their names. */
#define WORLD_IRQ "common_interrupt"
#define WORLD_SOFTIRQ "__do_softirq"
#define WORLD_TASK "schedule"

struct world world_new(void);
void world_free(struct world *world);
void world_take(struct world *world, const struct taken *taken);

/*
 * Asserts that table, stacks, and callers and trend of one function are right. `fine`: all slices
 * of the trend are within one second, so that it is exact.
 */
void world_check(struct world *world, const struct question *question, uint32_t function,
	bool fine);

uint64_t world_sum(const uint64_t *numbers, size_t count);

#endif
