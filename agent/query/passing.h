/* SPDX-License-Identifier: MIT */
/* Goes through those counts of a run that pass a filter. */
#ifndef PASSING_H
#define PASSING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/store/run.h"
#include "agent/wire/event.h"
#include "stop.h"

struct filter;
struct grouping;
struct stack_filter;
struct threads;

/*
 * What a filter and a grouping make of those who ran samples. Names decide that, so it takes long, and each slice has
 * mostly the same ones: it is remembered of the last 4,096 that differ. Starts as { 0 }.
 */
struct whos {
	struct who_facts *facts;	/* by hash; NULL: none yet */
};

void whos_clear(struct whos *whos);	/* also when filter, grouping or names of threads change */

struct passing {			/* what decides; all borrowed */
	const struct filter *filter;
	struct stack_filter *stack_filter;	/* of the same filter */
	struct threads *threads;
	const uint32_t *functions;	/* by node; see node_functions.h */
	const uint8_t *contexts;	/* by node; NULL: no one asks for modes within the kernel's */
	struct whos *whos;		/* of this filter and grouping */
	struct grouping *grouping;
	uint32_t idle, unknown;		/* the functions for idle time, and for samples without a stack */
	const atomic_bool *stop;	/* once set, the rest is left out; NULL: never */
};

struct passing_reader {
	const struct passing *passing;
	struct run_reader reader;
	uint8_t *whos;			/* for each of the run's list of who: bits 1 << context in which it passes */
	uint32_t *rows;			/* by who and context: its row, as far as it was asked for; NULL: none was */
	bool all;			/* everything passes, in any context */
	bool idle;			/* idle time passes, if its who does */
	bool begun, stack_passes;	/* `stack` is set; it passes */
	enum context context;		/* of `stack`; UNTOLD: no one asks */
	uint32_t stack;			/* of the last count whose who passed */
};

/* Both are borrowed until passing_end. */
void passing_begin(struct passing_reader *reader, const struct passing *passing, const struct run *run);
void passing_end(struct passing_reader *reader);

void passing_look(struct passing_reader *reader, uint32_t stack);	/* for passing_next alone */

/* The row of whoever ran the last count, by number in the run's list (grouping_who); idle time has its own. */
uint32_t passing_row(struct passing_reader *reader, uint32_t who);

/* Does a sample of this stack pass, of the `who`-th in the run's list? */
static inline bool passing_admits(struct passing_reader *reader, uint32_t stack, uint32_t who)
{
	if (reader->all)
		return true;
	if (!reader->whos[who])
		return false;
	if (!reader->begun || stack != reader->stack)
		passing_look(reader, stack);
	if (!(reader->whos[who] >> reader->context & 1))
		return false;
	return reader->reader.run->who[who].mode == MODE_IDLE ? reader->idle : reader->stack_passes;
}

/* Reads the next count that passes, and who ran it. One of idle time has no stack. False: no more, or stop was set. */
static inline bool passing_next(struct passing_reader *reader, struct run_count *count, const struct who **who)
{
	while (run_next(&reader->reader, count) && !stop_at(reader->passing->stop, reader->reader.left)) {
		if (!passing_admits(reader, count->stack, count->who))
			continue;
		*who = &reader->reader.run->who[count->who];
		return true;
	}
	return false;
}

#endif
