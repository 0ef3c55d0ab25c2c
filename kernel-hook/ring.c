#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port.h"
#include "ring.h"

/* Records start at multiples of 8, so that a pad always fits before the end. */
static uint64_t record_bytes(uint32_t payload)
{
	return (sizeof(struct ktop_record) + payload + 7) & ~7ull;
}

static struct ktop_record *record_at(const struct ktop_ring *ring, uint64_t offset)
{
	return (struct ktop_record *)(ring->data + (offset & (ring->size - 1)));
}

/* Bytes from `offset` to the end of its lap. */
static uint64_t to_end(const struct ktop_ring *ring, uint64_t offset)
{
	return ring->size - (offset & (ring->size - 1));
}

void ktop_ring_init(struct ktop_ring *ring, void *data, uint64_t size)
{
	*ring = (struct ktop_ring){ .data = data, .size = size };
}

struct ktop_record *ktop_ring_reserve(struct ktop_ring *ring, uint32_t payload)
{
	struct ktop_record *record = NULL;
	uint64_t need = record_bytes(payload), end, skip, tail;

	if (__atomic_load_n(&ring->busy, __ATOMIC_RELAXED)) {
		ktop_count(&ring->nested, 1);
		return NULL;
	}
	__atomic_store_n(&ring->busy, 1, __ATOMIC_SEQ_CST);		/* pair 3 */
	/* Only from here on does the head stand still: until then an NMI may write a record. */
	end = to_end(ring, ring->head);
	skip = end < need ? end : 0;
	tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);		/* pair 2 */
	if (ring->head + skip + need - tail > ring->size) {
		ktop_count(&ring->full, 1);
		ktop_ring_discard(ring);
		return NULL;
	}
	if (skip)
		record_at(ring, ring->head)->id = 0;
	record = record_at(ring, ring->head + skip);
	/* Not before it is ours: so times rise in the order of the records. */
	record->time = ktop_port_clock();
	if (record->time < ring->last)
		record->time = ring->last;
	return record;
}

void ktop_ring_commit(struct ktop_ring *ring, struct ktop_record *record, uint16_t id,
	uint32_t size)
{
	uint64_t skip = ((uint8_t *)record - ring->data - ring->head) & (ring->size - 1);
	uint64_t head = ring->head + skip + record_bytes(size);

	record->id = id;
	record->size = (uint16_t)size;
	ring->last = record->time;
	ktop_count(&ring->committed, 1);
	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);		/* pair 1 */
	ktop_ring_discard(ring);
}

void ktop_ring_discard(struct ktop_ring *ring)
{
	__atomic_store_n(&ring->busy, 0, __ATOMIC_RELEASE);			/* pair 9 */
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

const struct ktop_record *ktop_ring_first(struct ktop_ring *ring, uint64_t head)
{
	if (ring->tail != head && record_at(ring, ring->tail)->id == 0)
		move_tail(ring, to_end(ring, ring->tail));
	return ring->tail == head ? NULL : record_at(ring, ring->tail);
}

void ktop_ring_drop(struct ktop_ring *ring, const struct ktop_record *record)
{
	move_tail(ring, record_bytes(record->size));
}
