/* SPDX-License-Identifier: MIT */
/* Markers of a Firefox profile: trace events, and what they tell of threads, interrupts and system calls. */
#ifndef FIREFOX_MARKERS_H
#define FIREFOX_MARKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/samples/sample_set.h"

struct thread_names;

struct firefox_marker {
	uint64_t begin, end;		/* guest ns; equal for an event */
	uint32_t name;			/* of the list of names */
	uint8_t kind;			/* enum span_kind; FIREFOX_EVENT */
	bool lost;			/* it ends since events were lost */
	uint64_t values[TRACE_VALUES];	/* the event's; of a span its thread, number and result */
};

enum { FIREFOX_EVENT = 3 };
enum { FIREFOX_KERNEL, FIREFOX_OTHER = 4, FIREFOX_INTERRUPT };	/* categories (firefox.c) */

/* The names: those of spans, then the kinds of events as they came. */
struct firefox_names {
	const struct set_event_kind **kinds;
	uint32_t count, room;
	bool full;			/* there was no memory for all */
};

void firefox_names_clear(struct firefox_names *names, struct budget *budget);
uint32_t firefox_names_of(struct firefox_names *names, struct budget *budget, const struct set_event_kind *kind);

void firefox_names_put(const struct firefox_names *names, FILE *to);		/* each with a comma before it */
void firefox_names_put_schemas(const struct firefox_names *names, FILE *to);	/* the list of schemas */

/* A marker's fields, and its category. */
void firefox_marker_put_data(const struct firefox_marker *marker, const struct firefox_names *names,
	const struct thread_names *threads, FILE *to);
int firefox_marker_category(const struct firefox_marker *marker);

#endif
