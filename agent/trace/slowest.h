/* SPDX-License-Identifier: MIT */
/*
 * Of each name (span_rows.h) and each minute of guest time in which they ended, the SLOWEST longest spans whose end is
 * known, with all that is known of them. They take as much as a 64th of the budget; the oldest minutes go first. Used
 * by one thread.
 */
#ifndef SLOWEST_H
#define SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/trace_kinds.h"
#include "span_rows.h"

struct budget;
struct slowest;

enum { SLOWEST = 32 };

struct slow_span {
	struct span_row row;		/* its name and its times, never a lost one */
	uint64_t result;		/* as in struct trace_span, and these: valid until the next slowest_add */
	const uint64_t *arguments, *results;
	uint16_t ended_by;
};

struct slowest *slowest_new(struct budget *budget);
void slowest_free(struct slowest *slowest);	/* NULL is allowed */

/* `name`: as span_rows_add has returned it. Of equal ones, those that ended first are kept. */
void slowest_add(struct slowest *slowest, const struct trace_span *span, uint32_t name);

uint64_t slowest_from(const struct slowest *slowest);	/* those that ended before this time are gone; 0: none are */
uint64_t slowest_refused(const struct slowest *slowest);	/* there was no memory for them */

/* Gives each that ended at `from` or later and before `to`. */
void slowest_read(const struct slowest *slowest, uint64_t from, uint64_t to,
	void (*each)(void *context, const struct slow_span *span), void *context);

#endif
