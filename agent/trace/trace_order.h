/* SPDX-License-Identifier: MIT */
/*
 * Trace events of all CPUs, put in order of time. Those of one CPU come in order, but its packets come before or behind
 * another's. What is complete is given away: a packet says up to when its CPU is. A CPU that falls back by more than
 * TRACE_SILENT_NS is not waited for, once TRACE_SILENT_PACKETS times as many packets have come from others as there are
 * CPUs: behind a pause of the whole guest, the first packets of one CPU come before those of the next. Nor is anybody
 * waited for once too many events wait.
 */
#ifndef TRACE_ORDER_H
#define TRACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/util.h"
#include "agent/wire/trace_kinds.h"

#define TRACE_SILENT_NS (200 * NS_PER_MS)
enum { TRACE_SILENT_PACKETS = 16 };	/* a ring of the hook that is full takes eight */

struct trace_event {
	uint64_t time;			/* guest ns */
	uint64_t before;		/* of a beginning: so long before `time` it was, which was over when it came */
	uint32_t cpu;			/* below EVENT_CPUS */
	enum trace_role role;
	uint32_t stack;			/* as in struct trace_span */
	uint16_t id, pair;		/* as in struct trace_kind */
	bool held;			/* it may be late */
	bool arguments;			/* a call's beginning tells its arguments */
	bool doubt;			/* no event: what `lost` says, up to the next one of the CPU with this alone */
	uint8_t role_values[ROLE_VALUES];	/* from ROLE_PAIR_BEGIN on: which of `values` are the role's */
	uint64_t values[TRACE_VALUES];	/* of a role: those that it needs, first; from ROLE_PAIR_BEGIN on: its own */
	uint64_t lost;			/* no event: so many of the CPU are missing here, or, in doubt, later */
	const void *of;			/* the caller's */
};

struct budget;
struct trace_order;

/* `take` gets the events in order of time. At most so many wait; their memory is charged to the budget. */
struct trace_order *trace_order_new(struct budget *budget, uint32_t most,
	void (*take)(void *context, const struct trace_event *event), void *context);
void trace_order_free(struct trace_order *order);	/* what waits is dropped; NULL is allowed */

void trace_order_add(struct trace_order *order, const struct trace_event *event);

/* All events of this CPU up to this time have come. */
void trace_order_complete(struct trace_order *order, uint32_t cpu, uint64_t until);

void trace_order_end(struct trace_order *order);	/* no more come: gives all away */

/* All events before this time were given away, but for late ones. UINT64_MAX: no CPU has sent anything. */
uint64_t trace_order_until(const struct trace_order *order);

/*
 * Events whose time was over when they came, but for those that may be late. They stand where their time was moved to:
 * behind those given away.
 */
uint64_t trace_order_late(const struct trace_order *order);

#endif
