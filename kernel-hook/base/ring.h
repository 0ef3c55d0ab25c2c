/* SPDX-License-Identifier: MIT */
/*
 * A ring of whole events: one CPU writes, the drainer reads.
 *
 *    tail                            head
 *     |  record  |  record  |  record  |        free        |
 *
 * Head and tail count bytes since boot and only grow, so a full ring never looks empty. A record
 * lies in one piece: where it would not fit before the end, a pad (id 0) fills the lap.
 *
 * Barrier pairs:
 *   1  head: the stores in ktop_ring_commit and, of a pad, in ktop_ring_extend release the
 *      record; the load in ktop_ring_head acquires it.
 *   2  tail: the store in ktop_ring_drop releases the bytes read; the load in ktop_ring_extend
 *      acquires them before they are written again.
 *   3  busy and ktop.sampler or ktop.trace: each side stores its own, then loads the other's, all
 *      sequentially consistent: the writer in ktop_ring_enter and sample.c or trace.c, the
 *      switcher in sampler.c and ktop_ring_busy.
 *   9  busy, on its own CPU: the store in ktop_ring_leave releases the record and the head; an NMI
 *      that finds the ring not busy finds them done.
 */
#ifndef KTOP_RING_H
#define KTOP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hints.h"

struct ktop_record {
	uint16_t id;			/* enum ktop_event; 0: a pad, which has no more than this */
	uint16_t size;			/* bytes of payload */
	uint32_t unused;
	uint64_t time;
	uint8_t payload[];
};

struct ktop_ring {
	/* fixed after init */
	uint8_t *data;
	uint64_t size;			/* bytes, a power of two, at least KTOP_RING_MIN */

	/* written by this CPU, one writer at a time */
	uint64_t head __attribute__((aligned(64)));
	uint8_t *next;			/* where the next record goes */
	uint64_t free;			/* bytes there that are known to be free, in one piece */
	uint64_t committed;		/* events */
	uint64_t full;			/* events dropped for want of room */
	uint64_t cost;			/* clock ticks spent by its writers */
	uint32_t busy;			/* between enter and commit */

	/* written by whoever interrupted such a writer on this CPU */
	uint64_t nested;		/* events dropped */

	/* written by the drainer */
	uint64_t tail __attribute__((aligned(64)));
};

enum { KTOP_RING_MIN = 4096 };

void ktop_ring_init(struct ktop_ring *ring, void *data, uint64_t size);

/* A counter with one writer, read from anywhere. */
static inline void ktop_count(uint64_t *counter, uint64_t amount)
{
	__atomic_store_n(counter, *counter + amount, __ATOMIC_RELAXED);
}

/* Records start at multiples of 8, so that a pad always fits before the end. */
static inline uint64_t ktop_ring_bytes(uint32_t payload)
{
	return (sizeof(struct ktop_record) + payload + 7) & ~7ull;
}

/*
 * Any context of the owning CPU. The begin of one event: from here on the ring stands still, until
 * then an NMI may write a record. False: what was interrupted is amid one; this event is dropped,
 * and counted. A writer that may have been switched off looks at its switch now.
 */
static inline bool ktop_ring_enter(struct ktop_ring *ring)
{
	if (KTOP_RARE(__atomic_exchange_n(&ring->busy, 1, __ATOMIC_SEQ_CST))) {	/* pair 3 */
		ktop_count(&ring->nested, 1);
		return false;
	}
	return true;
}

/* The end, where there is no event after all. */
static inline void ktop_ring_leave(struct ktop_ring *ring)
{
	__atomic_store_n(&ring->busy, 0, __ATOMIC_RELEASE);		/* pair 9 */
}

/* For reserve, when `need` is more than was known to be free. False: it is not free. */
bool ktop_ring_extend(struct ktop_ring *ring, uint64_t need);

/*
 * After enter. Room for an event of up to `payload` bytes, and its time, until commit or leave;
 * NULL: the event is dropped, and counted, and the ring is left.
 */
static inline struct ktop_record *ktop_ring_reserve(struct ktop_ring *ring, uint32_t payload,
	uint64_t time)
{
	uint64_t need = ktop_ring_bytes(payload);
	struct ktop_record *record;

	if (KTOP_RARE(need > ring->free) && !ktop_ring_extend(ring, need)) {
		ktop_count(&ring->full, 1);
		ktop_ring_leave(ring);
		return NULL;
	}
	record = (struct ktop_record *)ring->next;
	record->time = time;
	return record;
}

/* The end: the event is readable. */
static inline void ktop_ring_commit(struct ktop_ring *ring, struct ktop_record *record,
	uint16_t id, uint32_t size)
{
	uint64_t bytes = ktop_ring_bytes(size);

	record->id = id;
	record->size = (uint16_t)size;
	ring->next = (uint8_t *)record + bytes;
	ring->free -= bytes;
	ktop_count(&ring->committed, 1);
	__atomic_store_n(&ring->head, ring->head + bytes, __ATOMIC_RELEASE);	/* pair 1 */
	ktop_ring_leave(ring);
}

/* The drainer, after switching writers off: may one still be at it? */
bool ktop_ring_busy(const struct ktop_ring *ring);

/* Any context. Events dropped since boot. */
uint64_t ktop_ring_lost(const struct ktop_ring *ring);

/* The drainer. The end of what is readable; the first record before that, or NULL; done with it. */
uint64_t ktop_ring_head(const struct ktop_ring *ring);
const struct ktop_record *ktop_ring_first(struct ktop_ring *ring, uint64_t head);
void ktop_ring_drop(struct ktop_ring *ring, const struct ktop_record *record);

#endif
