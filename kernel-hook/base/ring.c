/* SPDX-License-Identifier: MIT */
/* The parts of ring.h that are seldom reached: the end of the known room, and the drainer's side. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/* `offset`: bytes since boot, as head and tail count. */
static struct ktop_record *record_at(const struct ktop_ring *ring, uint64_t offset)
{
	return (struct ktop_record *)(ring->data + (offset & (ring->size - 1)));
}

void ktop_ring_init(struct ktop_ring *ring, void *data, uint64_t size)
{
	*ring = (struct ktop_ring) { .data = data, .size = size, .next = data, .limit = data, .settled = true };
}

/* Bytes from `offset` to the end of the ring's memory. */
static uint64_t to_end(const struct ktop_ring *ring, uint64_t offset)
{
	return ring->size - (offset & (ring->size - 1));
}

/* A pad has no size: it takes all up to the end of the ring's memory. */
static uint64_t bytes_at(const struct ktop_ring *ring, uint64_t offset)
{
	const struct ktop_record *record = record_at(ring, offset);

	return record->id ? ktop_ring_bytes(record->size) : to_end(ring, offset);
}

enum { GIVEN_UP = 4096 };		/* bytes at a time: few enough for an interrupt */

/* Gives up the oldest records, `least` bytes of them or more, if there are so many. Returns the new tail. */
static uint64_t give_up(struct ktop_ring *ring, uint64_t tail, uint64_t least)
{
	uint64_t until = tail + (least > GIVEN_UP || ring->size < 4 * GIVEN_UP ? least : GIVEN_UP);
	uint64_t events = 0;

	until = until < ring->head ? until : ring->head;
	while (tail < until) {
		const struct ktop_record *record = record_at(ring, tail);

		if (KTOP_RARE(record->id == 0)) {
			tail += to_end(ring, tail);
			continue;
		}
		tail += ktop_ring_bytes(record->size);
		events++;
	}
	ktop_count(&ring->given_up, events);
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELAXED);
	return tail;
}

bool ktop_ring_extend(struct ktop_ring *ring, uint64_t need)
{
	bool rolling = __atomic_load_n(&ring->rolling, __ATOMIC_SEQ_CST);	/* pair 3 */
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);		/* pair 2 */
	uint64_t end = to_end(ring, ring->head), pad = end < need ? end : 0;
	uint64_t free = ring->size - (ring->head - tail);

	if (pad + need > free && rolling) {
		tail = give_up(ring, tail, pad + need - free);
		free = ring->size - (ring->head - tail);
	}
	if (pad + need > free)
		return false;
	if (pad) {
		record_at(ring, ring->head)->id = 0;
		__atomic_store_n(&ring->head, ring->head + pad, __ATOMIC_RELEASE);	/* pair 1 */
		end = ring->size;
	}
	ring->next = (uint8_t *)record_at(ring, ring->head);
	ring->limit = ring->next + (free - pad < end ? free - pad : end);
	return true;
}

bool ktop_ring_busy(const struct ktop_ring *ring)
{
	return __atomic_load_n(&ring->busy, __ATOMIC_SEQ_CST);		/* pair 3 */
}

uint64_t ktop_ring_lost(const struct ktop_ring *ring)
{
	return __atomic_load_n(&ring->full, __ATOMIC_RELAXED) + __atomic_load_n(&ring->nested, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->given_up, __ATOMIC_RELAXED);
}

uint64_t ktop_ring_taken(const struct ktop_ring *ring)
{
	return __atomic_load_n(&ring->committed, __ATOMIC_RELAXED) + __atomic_load_n(&ring->full, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->nested, __ATOMIC_RELAXED);
}

/* The writer that sees it also sees the tail, which the drainer has stored before. */
void ktop_ring_roll(struct ktop_ring *ring)
{
	if (ring->rolling)
		return;
	ring->settled = false;
	__atomic_store_n(&ring->rolling, 1, __ATOMIC_SEQ_CST);		/* pair 3 */
}

/* A writer that is not busy now will see that the ring does not roll. */
bool ktop_ring_settle(struct ktop_ring *ring)
{
	if (ring->settled)
		return true;
	__atomic_store_n(&ring->rolling, 0, __ATOMIC_SEQ_CST);		/* pair 3 */
	ring->settled = !ktop_ring_busy(ring);
	return ring->settled;
}

uint64_t ktop_ring_head(const struct ktop_ring *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);		/* pair 1 */
}

static void move_tail(struct ktop_ring *ring, uint64_t bytes)
{
	__atomic_store_n(&ring->tail, ring->tail + bytes, __ATOMIC_RELEASE);	/* pair 2 */
}

const struct ktop_record *ktop_ring_first(struct ktop_ring *ring, uint64_t head)
{
	if (ring->tail != head && record_at(ring, ring->tail)->id == 0)
		move_tail(ring, bytes_at(ring, ring->tail));
	return ring->tail == head ? NULL : record_at(ring, ring->tail);
}

void ktop_ring_drop(struct ktop_ring *ring, const struct ktop_record *record)
{
	move_tail(ring, ktop_ring_bytes(record->size));
}
