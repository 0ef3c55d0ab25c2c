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
	*ring = (struct ktop_ring) { .data = data, .size = size, .next = data, .limit = data };
}

/* Bytes from `offset` to the end of the ring's memory. */
static uint64_t to_end(const struct ktop_ring *ring, uint64_t offset)
{
	return ring->size - (offset & (ring->size - 1));
}

bool ktop_ring_extend(struct ktop_ring *ring, uint64_t need)
{
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);		/* pair 2 */
	uint64_t end = to_end(ring, ring->head), pad = end < need ? end : 0;
	uint64_t free = ring->size - (ring->head - tail);

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
	return __atomic_load_n(&ring->full, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->nested, __ATOMIC_RELAXED);
}

uint64_t ktop_ring_head(const struct ktop_ring *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);		/* pair 1 */
}

static void move_tail(struct ktop_ring *ring, uint64_t bytes)
{
	__atomic_store_n(&ring->tail, ring->tail + bytes, __ATOMIC_RELEASE);	/* pair 2 */
}

/* A pad has no size: it is passed over up to the end of the ring's memory. */
const struct ktop_record *ktop_ring_first(struct ktop_ring *ring, uint64_t head)
{
	if (ring->tail != head && record_at(ring, ring->tail)->id == 0)
		move_tail(ring, to_end(ring, ring->tail));
	return ring->tail == head ? NULL : record_at(ring, ring->tail);
}

void ktop_ring_drop(struct ktop_ring *ring, const struct ktop_record *record)
{
	move_tail(ring, ktop_ring_bytes(record->size));
}
