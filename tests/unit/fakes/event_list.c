/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "event_list.h"

const struct set_event_kind event_switch = { .name = "sched_switch", .count = 2,
	.role = ROLE_SWITCH, .role_values = { 0, 1, TRACE_VALUES }, .values = { { "from", 0 }, { "to", 0 } } };
const struct set_event_kind event_irq_enter = { .name = "irq_enter", .count = 1,
	.role = ROLE_IRQ_BEGIN, .values = { { "irq", 0 } } };
const struct set_event_kind event_irq_exit = { .name = "irq_exit", .count = 1,
	.role = ROLE_IRQ_END, .values = { { "irq", 0 } } };
const struct set_event_kind event_call = { .name = "syscall_enter", .count = 2,
	.role = ROLE_CALL_BEGIN, .role_values = { 0, 1 }, .values = { { "thread", 0 }, { "number", 0 } } };
const struct set_event_kind event_return = { .name = "syscall_exit", .count = 3,
	.role = ROLE_CALL_END, .role_values = { 0, 1, 2 },
	.values = { { "thread", 0 }, { "number", 0 }, { "result", 1 } } };
const struct set_event_kind event_mail = { .name = "mail \"put\"", .count = 2,
	.values = { { "box", 0 }, { "change", 1 } } };
const struct set_event_kind event_lost = { .name = "events lost", .mark = TRACE_LOST, .count = 1,
	.values = { { "events", 0 } } };
const struct set_event_kind event_sure = { .name = "no events lost", .mark = TRACE_SURE };
const struct set_event_kind event_changed = { .name = "other events traced", .mark = TRACE_CHANGED };
const struct set_event_kind event_wait = { .name = "lock_wait", .count = 3, .role = ROLE_LOCK_WAIT,
	.role_values = { 0, 1, 2 }, .values = { { "lock", 0 }, { "thread", 0 }, { "holder", 0 } } };
const struct set_event_kind event_waited = { .name = "lock_waited", .count = 3, .role = ROLE_LOCK_WAITED,
	.role_values = { 0, 1, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES },
	.values = { { "lock", 0 }, { "thread", 0 }, { "got", 0 } } };
const struct set_event_kind event_leave = { .name = "sched_switch", .count = 3, .role = ROLE_SWITCH,
	.role_values = { 0, 1, 2 }, .values = { { "from", 0 }, { "to", 0 }, { "leaves", 0 } } };
const struct set_event_kind event_wake = { .name = "sched_wake", .count = 2, .role = ROLE_WAKE,
	.role_values = { 0, 1 }, .values = { { "thread", 0 }, { "waker", 0 } } };

struct list {
	const struct set_event *events;
	size_t count;
};

struct set_events {
	const struct list *list;
	size_t next;
};

static struct set_events *open_list(void *context)
{
	struct set_events *events = util_alloc(sizeof(*events));

	events->list = context;
	return events;
}

static bool next(struct set_events *events, struct set_event *event)
{
	if (events->next == events->list->count)
		return false;
	*event = events->list->events[events->next++];
	return true;
}

static bool failed(const struct set_events *events)
{
	(void)events;
	return false;
}

static void close_list(struct set_events *events)
{
	free(events);
}

void event_list_give(struct sample_set *set, const struct set_event *events, size_t count)
{
	static const struct set_events_table table = {
		.open = open_list, .next = next, .failed = failed, .close = close_list, .free = free,
	};
	struct list *list = util_alloc(sizeof(*list));

	*list = (struct list) { events, count };
	sample_set_give_events(set, &table, list);
}
