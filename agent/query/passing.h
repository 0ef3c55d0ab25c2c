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
struct stack_filter;
struct threads;

struct passing {			/* what decides; all borrowed */
	const struct filter *filter;
	struct stack_filter *stack_filter;	/* of the same filter */
	struct threads *threads;
	const uint32_t *functions;	/* by node; see node_functions.h */
	const uint8_t *contexts;	/* by node; NULL: no one asks for modes within the kernel's */
	uint32_t idle, unknown;		/* the functions for idle time, and for samples without a stack */
	const atomic_bool *stop;	/* once set, the rest is left out; NULL: never */
};

struct passing_reader {
	const struct passing *passing;
	struct run_reader reader;
	uint8_t *whos;			/* for each of the run's list of who: bits 1 << context in which it passes */
	bool idle;			/* idle time passes, if its who does */
	bool begun, stack_passes;	/* `stack` is set; it passes */
	enum context context;		/* of `stack`; UNTOLD: no one asks */
	uint32_t stack;			/* of the last count whose who passed */
	uint32_t newest;		/* the highest stack that the filter looked at; 0: none */
};

/* Both are borrowed until passing_end. */
void passing_begin(struct passing_reader *reader, const struct passing *passing, const struct run *run);
void passing_end(struct passing_reader *reader);

void passing_look(struct passing_reader *reader, uint32_t stack);	/* for passing_next alone */

/* Does a sample of this stack pass, of the `who`-th in the run's list? */
static inline bool passing_admits(struct passing_reader *reader, uint32_t stack, uint32_t who)
{
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
