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
#include "agent/wire/trace_kinds.h"

struct budget;
struct guest_events;

struct guest_event {
	uint16_t id;
	bool described;			/* its descriptor has come; if not, only its events have */
	enum stream stream;
	char *name, *fields;		/* as in the descriptor (docs/wire.md), printable; before: payload_name, "" */
	uint64_t *counts;		/* events received, by CPU */
	uint32_t room;			/* entries of counts[] */
};

enum { GUEST_EVENTS = 2048, GUEST_NUMBERS = 4096 };	/* kinds that are kept: more than the decoder ever gives */

struct guest_events *guest_events_new(struct budget *budget);	/* borrows the budget */
void guest_events_free(struct guest_events *events);

/* Counts events of one CPU; `count` is at least 1. Without memory, the events are counted as refused. */
void guest_events_count(struct guest_events *events, const struct event *received, size_t count);

/* Takes a descriptor. The first one of an id holds for the whole boot. */
void guest_events_describe(struct guest_events *events, const struct event *descriptor);

/*
 * What a number is called that stands in events of a kind. A later name replaces an earlier one; there are
 * GUEST_NUMBERS at most. By role (trace_kinds.h), since a beginning and its end have the same numbers; of other events
 * as struct trace_number says, and for all of its group, if that is the hook's own. "": it has no
 * name.
 */
void guest_events_number(struct guest_events *events, const struct event *number);
const char *guest_events_called(const struct guest_events *events, enum trace_role role, uint64_t number);

bool guest_events_is_block(const struct guest_events *events, uint16_t pair);	/* it is a request of a block device */

/* All of them, valid until the next call that changes one. Returns how many. */
uint32_t guest_events_numbers(const struct guest_events *events, const struct trace_number **numbers);

/* The arguments of the call with this number, CALL_ARGUMENTS at most. Returns how many; -1: the guest tells nothing. */
void guest_events_tell_arguments(struct guest_events *events, const struct event *arguments);
int guest_events_arguments(const struct guest_events *events, uint64_t number, const struct field **fields);

/*
 * Both set which events the guest traces. guest_events_traced takes the mask of a hook that tells it for all ids.
 * guest_events_traced_before takes it from the status of an older hook, which traces the ids 32 to 63 alone. Once the
 * former was called, the latter has no effect.
 */
bool guest_events_traced(struct guest_events *events, const struct event *tracing);	/* true: others than before */
void guest_events_traced_before(struct guest_events *events, const struct status *status);

/* The kind with the smallest id that is not below `id`; NULL: there is none. */
const struct guest_event *guest_events_from(const struct guest_events *events, uint32_t id);

bool guest_events_on(const struct guest_events *events, uint16_t id);	/* the guest traces it */
uint64_t guest_events_refused(const struct guest_events *events);	/* events not counted for want of memory */

#endif
