/* SPDX-License-Identifier: MIT */
/* What threads did at a moment, by the guest's trace events: now, as far as they tell, or at a time that is past. */
#ifndef THREAD_STATES_H
#define THREAD_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/trace/pairs.h"

struct epoch;
struct thread_states;

/*
 * At the time `at`, guest ns; 0: now. Of `thread` alone, the last wake before a time that is past is told; EVENT_NONE:
 * of none. Borrows the epoch.
 */
struct thread_states *thread_states_new(const struct epoch *epoch, uint64_t at, uint64_t thread);
void thread_states_free(struct thread_states *states);

uint64_t thread_states_at(const struct thread_states *states);	/* that time; UINT64_MAX: no event has told anything */
bool thread_states_forgot(const struct thread_states *states);	/* spans of that time were forgotten: nothing is told */

struct pairs_thread thread_states_of(const struct thread_states *states, uint64_t thread);
struct trace_span thread_states_hold(const struct thread_states *states, uint64_t lock);	/* as pairs_hold */

/* Gives each thread of which it is known what it did, or for which lock it waited. */
void thread_states_each(const struct thread_states *states, void (*each)(void *context, uint64_t thread),
	void *context);

#endif
