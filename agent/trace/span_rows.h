/* SPDX-License-Identifier: MIT */
/*
 * Spans as rows in blocks, the newest ones: as many as a 16th of the budget pays for. Older ones are summed up, those
 * that differ in nothing but when they ended in a second, and by 3 % in how long they took. The sums take a 12th of the
 * budget. When they fill it, the older half is summed up again, over times that are eight times as long: so there are
 * hours of them; but no slot is longer than its sums are old. At last the oldest go. Used by one thread.
 */
#ifndef SPAN_ROWS_H
#define SPAN_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/event.h"
#include "span.h"

struct budget;
struct span_rows;

enum { SPAN_NAMES = 4096 };		/* kinds with numbers: more than any kernel has calls and interrupts */

struct span_row {
	uint64_t end, duration;		/* guest ns; of a lost one, the duration says nothing */
	uint32_t thread;		/* as in struct trace_span, its low bits */
	/* Of a wake to run: thread, or as span_row_cpu says; of a lock: the holder. EVENT_NONE: not known. */
	uint32_t waker;
	uint32_t stack;			/* as in struct trace_span */
	uint32_t name : 13;		/* its number in span_rows_names */
	uint32_t cpu : 12;
	uint32_t lost : 1, interrupt : 1;	/* interrupt: one woke it */
};
_Static_assert(SPAN_NAMES < 1 << 13 && EVENT_CPUS <= 1 << 12, "they fit");
_Static_assert(sizeof(struct span_row) == 32, "as many are kept as there is room for");

/* Of a wake to run by an interrupt: its CPU, and the name of its handler; SPAN_NAMES: not known. */
static inline uint32_t span_row_cpu(const struct span_row *row)
{
	return row->waker & (EVENT_CPUS - 1);
}

static inline uint32_t span_row_handler(const struct span_row *row)
{
	return row->waker / EVENT_CPUS;
}

struct span_sum {			/* spans with the same name, thread, CPU and stack, as in struct span_row */
	uint64_t end;			/* the latest end of them; they ended in the same slot of time */
	uint64_t total;			/* ns of all; of lost ones: 0 */
	uint32_t count;
	uint32_t thread, stack;
	uint32_t name : 13, cpu : 12, lost : 1;
};
_Static_assert(sizeof(struct span_sum) == 32, "as a row");

struct span_rows *span_rows_new(struct budget *budget);
void span_rows_free(struct span_rows *rows);	/* NULL is allowed */

/* Returns the number of its name, by which span_rows_names tells it. SPAN_NAMES: there is none left. */
uint32_t span_rows_add(struct span_rows *rows, const struct trace_span *span);

uint64_t span_rows_refused(const struct span_rows *rows);	/* no memory for it, or no number for its name */
/* Some that ended before this time are no rows any more; of span_rows_sums_from: no sums either. 0: none. */
uint64_t span_rows_from(const struct span_rows *rows);
uint64_t span_rows_sums_from(const struct span_rows *rows);
uint64_t span_rows_first(const struct span_rows *rows);	/* the earliest beginning of all, in sums too; none: 0 */
uint32_t span_rows_names(const struct span_rows *rows, const struct span_name **names);	/* returns how many */

/* The row of a span; its `name` is not filled, nor is the handler that it was woken by known. */
struct span_row span_row_of(const struct trace_span *span);

/* Gives each row that ended at `from` or later and began before `to`, in the order in which they came. */
void span_rows_read(const struct span_rows *rows, uint64_t from, uint64_t to,
	void (*each)(void *context, const struct span_row *row), void *context);

/*
 * Moves both times to the nearest ends of the slots in which they are; if these are the same, around one slot. Times
 * from span_rows_from on stay: there all spans are rows.
 */
void span_rows_cover(const struct span_rows *rows, uint64_t *from, uint64_t *to);

/* Gives each sum in which there may be spans that ended at `from` or later and began before `to`; with its slot, ns. */
void span_rows_read_sums(const struct span_rows *rows, uint64_t from, uint64_t to,
	void (*each)(void *context, const struct span_sum *sum, uint64_t slot), void *context);

#endif
