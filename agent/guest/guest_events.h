/* SPDX-License-Identifier: MIT */
/* The kinds of events that a boot has: what the guest calls them, which it traces, how many came from each CPU. */
#ifndef GUEST_EVENTS_H
#define GUEST_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct guest_events;

struct guest_event {
	uint16_t id;
	bool described;			/* else only its events have come */
	enum stream stream;
	char *name, *fields;		/* printable; "" until it is described */
	uint64_t *counts;		/* by CPU; of `room` CPUs */
	uint32_t room;
};

enum { GUEST_EVENTS = 2048 };		/* kinds kept: more than are ever decoded */

struct guest_events *guest_events_new(struct budget *budget);
void guest_events_free(struct guest_events *events);

/* All are of one CPU. */
void guest_events_count(struct guest_events *events, const struct event *received, size_t count);

void guest_events_describe(struct guest_events *events, const struct event *descriptor);

/* What is traced: by a hook that says so for all ids, or by one that knows those from 32 to 63 alone. */
void guest_events_traced(struct guest_events *events, const struct event *tracing);
void guest_events_traced_before(struct guest_events *events, const struct status *status);

/* The next kind from this id on, in order; NULL: there is none. */
const struct guest_event *guest_events_from(const struct guest_events *events, uint32_t id);

uint64_t guest_events_of(const struct guest_events *events, uint16_t id, uint32_t cpu);
bool guest_events_on(const struct guest_events *events, uint16_t id);
uint64_t guest_events_refused(const struct guest_events *events);	/* events not counted: no memory */

#endif
