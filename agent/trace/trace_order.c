/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "trace_order.h"

enum { FIRST = 64 };			/* the first room of a queue; it doubles */

struct queue {				/* of one CPU, in order of time */
	struct trace_event *events;	/* a ring of `room`, a power of two */
	uint32_t first, count, room;
	uint64_t last, told;		/* the time of the newest that was added; of the guest's own events */
	uint64_t complete;		/* as far as its packets say */
	bool known;			/* it has sent something */
	uint64_t heard;			/* `packets` when it sent its last */
};

struct trace_order {
	struct budget *budget;
	uint32_t most, held;		/* events that may wait, and that do */
	void (*take)(void *context, const struct trace_event *event);
	void *context;
	struct queue *queues;		/* by CPU */
	uint32_t cpus, known;		/* queues; CPUs that have sent something */
	uint64_t packets;		/* that have come */
	uint32_t *heap, heap_count;	/* CPUs that have events, the one with the earliest first */
	uint64_t newest;		/* the latest time of which anybody knows */
	uint64_t given;			/* the time of the last that was given away */
	uint64_t until;			/* what came before was given away; 0: nothing has come */
	uint64_t late;
};

struct trace_order *trace_order_new(struct budget *budget, uint32_t most,
	void (*take)(void *context, const struct trace_event *event), void *context)
{
	struct trace_order *order = util_alloc(sizeof(*order));

	order->budget = budget;
	order->most = most;
	order->take = take;
	order->context = context;
	return order;
}

void trace_order_free(struct trace_order *order)
{
	if (!order)
		return;
	for (uint32_t i = 0; i < order->cpus; i++)
		budget_free(order->budget, order->queues[i].events,
			order->queues[i].room * sizeof(struct trace_event));
	free(order->queues);
	free(order->heap);
	free(order);
}

static const struct trace_event *head_of(const struct trace_order *order, uint32_t cpu)
{
	const struct queue *queue = &order->queues[cpu];

	return &queue->events[queue->first];
}

static bool begins(const struct trace_event *event)
{
	return event->role == ROLE_IRQ_BEGIN || event->role == ROLE_CALL_BEGIN || event->role == ROLE_LOCK_WAIT ||
		event->role == ROLE_LOCK_ACQUIRED || event->role == ROLE_PAIR_BEGIN || event->role == ROLE_FRAME_BEGIN;
}

/*
 * Of the same time, what ends comes before what begins: a call may end on one CPU, and the next begin on another; so
 * may the hold of a lock.
 */
static bool is_before(const struct trace_order *order, uint32_t a, uint32_t b)
{
	const struct trace_event *x = head_of(order, a), *y = head_of(order, b);

	if (x->time != y->time)
		return x->time < y->time;
	if (begins(x) != begins(y))
		return begins(y);
	return a < b;
}

static void heap_sink(struct trace_order *order, uint32_t at)
{
	uint32_t cpu = order->heap[at];

	for (uint32_t below; (below = 2 * at + 1) < order->heap_count; at = below) {
		below += below + 1 < order->heap_count && is_before(order, order->heap[below + 1], order->heap[below]);
		if (!is_before(order, order->heap[below], cpu))
			break;
		order->heap[at] = order->heap[below];
	}
	order->heap[at] = cpu;
}

static void heap_add(struct trace_order *order, uint32_t cpu)
{
	uint32_t at = order->heap_count++;

	for (; at && is_before(order, cpu, order->heap[(at - 1) / 2]); at = (at - 1) / 2)
		order->heap[at] = order->heap[(at - 1) / 2];
	order->heap[at] = cpu;
}

static struct queue *queue_of(struct trace_order *order, uint32_t cpu)
{
	if (cpu >= order->cpus) {
		uint32_t cpus = 2 * cpu + 1;

		order->queues = util_grow(order->queues, cpus, sizeof(*order->queues));
		memset(order->queues + order->cpus, 0, (cpus - order->cpus) * sizeof(*order->queues));
		order->heap = util_grow(order->heap, cpus, sizeof(*order->heap));
		order->cpus = cpus;
	}
	order->known += !order->queues[cpu].known;
	order->queues[cpu].known = true;
	return &order->queues[cpu];
}

/* Charged without a check: `most` bounds it. */
static void queue_grow(struct queue *queue, struct budget *budget)
{
	uint32_t room = queue->room ? 2 * queue->room : FIRST;
	struct trace_event *events = util_grow(NULL, room, sizeof(*events));

	for (uint32_t i = 0; i < queue->count; i++)
		events[i] = queue->events[(queue->first + i) & (queue->room - 1)];
	budget_free(budget, queue->events, queue->room * sizeof(*events));
	budget_charge(budget, room * sizeof(*events));
	queue->events = events;
	queue->room = room;
	queue->first = 0;
}

static void give_first(struct trace_order *order)
{
	uint32_t cpu = order->heap[0];
	struct queue *queue = &order->queues[cpu];
	const struct trace_event event = *head_of(order, cpu);

	queue->first = (queue->first + 1) & (queue->room - 1);
	queue->count--;
	order->held--;
	if (!queue->count)
		order->heap[0] = order->heap[--order->heap_count];
	if (order->heap_count)
		heap_sink(order, 0);
	order->given = event.time;
	order->take(order->context, &event);
}

void trace_order_add(struct trace_order *order, const struct trace_event *event)
{
	struct queue *queue = queue_of(order, event->cpu);
	uint64_t least = queue->last > order->given ? queue->last : order->given;
	struct trace_event *own;

	if (queue->count == queue->room)
		queue_grow(queue, order->budget);
	own = &queue->events[(queue->first + queue->count) & (queue->room - 1)];
	*own = *event;
	if (own->time < least) {
		own->held = own->held && own->time >= queue->told;	/* nothing of its CPU came in between */
		own->before = own->held ? least - own->time : 0;
		own->time = least;
		order->late += !own->held;
	}
	queue->last = own->time;
	queue->told = own->lost || own->doubt ? queue->told : own->time;
	order->newest = own->time > order->newest ? own->time : order->newest;
	order->held++;
	if (queue->count++ == 0)
		heap_add(order, event->cpu);
	while (order->held > order->most)
		give_first(order);
}

static bool is_silent(const struct trace_order *order, const struct queue *queue)
{
	return order->newest - queue->complete > TRACE_SILENT_NS &&
		order->packets - queue->heard >= (uint64_t)TRACE_SILENT_PACKETS * order->known;
}

/* All CPUs have sent what was before this time. Those that are silent are not waited for. */
static uint64_t complete_until(const struct trace_order *order)
{
	uint64_t silent = order->newest > TRACE_SILENT_NS ? order->newest - TRACE_SILENT_NS : 0, least = order->newest;

	for (uint32_t i = 0; i < order->cpus; i++) {
		const struct queue *queue = &order->queues[i];
		uint64_t complete = queue->known && is_silent(order, queue) ? silent : queue->complete;

		if (queue->known && complete < least)
			least = complete;
	}
	return least;
}

void trace_order_complete(struct trace_order *order, uint32_t cpu, uint64_t until)
{
	struct queue *queue = queue_of(order, cpu);
	uint64_t limit;

	queue->complete = until > queue->complete ? until : queue->complete;
	queue->heard = ++order->packets;
	order->newest = until > order->newest ? until : order->newest;
	if (order->packets < 2 * TRACE_SILENT_PACKETS)
		return;			/* others may still send their first */
	limit = complete_until(order);
	order->until = limit > order->until ? limit : order->until;
	while (order->heap_count && head_of(order, order->heap[0])->time <= limit)
		give_first(order);
}

void trace_order_end(struct trace_order *order)
{
	while (order->heap_count)
		give_first(order);
	order->until = order->newest;
}

uint64_t trace_order_until(const struct trace_order *order)
{
	return order->cpus ? order->until : UINT64_MAX;
}

uint64_t trace_order_late(const struct trace_order *order)
{
	return order->late;
}
