/* SPDX-License-Identifier: MIT */
/*
 * The kinds of events of one boot: what the guest calls each kind, whether it is traced, and how many events came from
 * each CPU. Ingest thread.
 */
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
	bool described;			/* its descriptor has come; if not, only its events have */
	enum stream stream;
	char *name, *fields;		/* printable; "" until it is described */
	uint64_t *counts;		/* events received, by CPU */
	uint32_t room;			/* entries of counts[] */
};

enum { GUEST_EVENTS = 2048 };		/* kinds that are kept: more than the decoder ever gives */

struct guest_events *guest_events_new(struct budget *budget);
void guest_events_free(struct guest_events *events);

/* Counts events of one CPU; `count` is at least 1. */
void guest_events_count(struct guest_events *events, const struct event *received, size_t count);

void guest_events_describe(struct guest_events *events, const struct event *descriptor);

/*
 * Which events are traced: `traced` takes it from a hook that says so for all ids, `traced_before` from an older hook,
 * which has the ids 32 to 63 alone. Once the former was called, the latter has no effect.
 */
void guest_events_traced(struct guest_events *events, const struct event *tracing);
void guest_events_traced_before(struct guest_events *events, const struct status *status);

/* The kind with the smallest id that is not below `id`; NULL: there is none. */
const struct guest_event *guest_events_from(const struct guest_events *events, uint32_t id);

uint64_t guest_events_of(const struct guest_events *events, uint16_t id, uint32_t cpu);	/* how many came */
bool guest_events_on(const struct guest_events *events, uint16_t id);	/* the guest traces it */
uint64_t guest_events_refused(const struct guest_events *events);	/* events not counted for want of memory */

#endif
