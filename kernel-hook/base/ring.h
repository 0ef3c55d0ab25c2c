/* SPDX-License-Identifier: MIT */
/*
 * A ring of whole events. One CPU writes it, the drainer reads it, and neither waits for the other. A record is one
 * event as it lies in the ring. This header is long, since it has the contracts of four barrier pairs.
 *
 *    tail                            head
 *     |  record  |  record  |  record  |        free        |
 *
 * Head and tail count the bytes since boot and only grow, so a full ring never looks empty. A record
 * lies in one piece: where it would not fit before the ring's end, a pad (id 0) fills the rest.
 *
 * To write one event: enter, reserve, fill in the payload, commit. Leave takes the place of commit when there is
 * no event after all. Every event that finds no place is counted.
 *
 * While nobody reads, the ring is rolling: the writer gives up the oldest records for new ones, so that the newest are
 * there when somebody comes, or when the machine has died. Then the tail is the writer's. The drainer gets it back by
 * ktop_ring_settle.
 *
 * Barrier pairs:
 *   1  head: the stores in ktop_ring_commit and, for a pad, in ktop_ring_extend release the
 *      record; the load in ktop_ring_head acquires it.
 *   2  tail: the store in ktop_ring_drop releases the bytes that were read; the load in
 *      ktop_ring_extend acquires them before they are written again.
 *   3  busy, and ktop.sampler, ktop.trace or ring.rolling: the writer stores busy in ktop_ring_enter, then loads the
 *      switch in sample.c, trace.c or ktop_ring_extend. The drainer stores the switch in sampler.c or ktop_ring_settle,
 *      then loads busy in ktop_ring_busy. All are sequentially consistent, so at least one side sees the other's store.
 *   9  busy, on its own CPU: the store in ktop_ring_leave releases the record and the head. An NMI
 *      that finds the ring not busy therefore finds both complete.
 */
#ifndef KTOP_RING_H
#define KTOP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hints.h"

struct ktop_record {
	uint16_t id;			/* enum ktop_event; 0: a pad, in which nothing else is set */
	uint16_t size;			/* bytes of payload */
	uint32_t unused;
	uint64_t time;			/* of ktop_port_clock() */
	uint8_t payload[];
};

struct ktop_ring {
	/* fixed after init */
	uint8_t *data;
	uint64_t size;			/* bytes, a power of two, at least KTOP_RING_MIN */

	/* written by this CPU, one writer at a time */
	uint64_t head __attribute__((aligned(64)));	/* up to here records can be read */
	uint8_t *next;			/* where the next record goes */
	uint8_t *limit;			/* all from there up to here is known to be free */
	uint64_t committed;		/* events written since boot */
	uint64_t full;			/* events dropped because the ring was full */
	uint64_t cost;			/* clock ticks that its writers took */
	uint32_t busy;			/* 1 from enter until commit or leave */

	/* written by the context that interrupted such a writer on this CPU */
	uint64_t nested;		/* events dropped because the ring was busy */

	/* written by the drainer */
	uint64_t tail __attribute__((aligned(64)));	/* up to here records have been read; rolling: by the writer */
	uint64_t given_up;		/* events that were given up unread for newer ones; by the writer */
	uint32_t rolling;		/* 1: the oldest records make room */
	bool settled;			/* no writer moves the tail */
};

enum { KTOP_RING_MIN = 4096 };		/* bytes */

/* Thread, before anybody uses the ring. `data` has `size` bytes, is aligned to 8, and stays the ring's. */
void ktop_ring_init(struct ktop_ring *ring, void *data, uint64_t size);

/* Any context. Adds to a counter that has one writer and is read from anywhere. */
static inline void ktop_count(uint64_t *counter, uint64_t amount)
{
	__atomic_store_n(counter, *counter + amount, __ATOMIC_RELAXED);
}

/* The bytes that a record takes: a multiple of 8, so that a pad always fits before the end. */
static inline uint64_t ktop_ring_bytes(uint32_t payload)
{
	return (sizeof(struct ktop_record) + payload + 7) & ~7ull;
}

/*
 * Any context of the owning CPU. Begins one event. From here on nobody else writes to the ring; up to here an
 * NMI may have written a record. False: the interrupted code was writing an event; this one is dropped and
 * counted. A writer that can be switched off looks at its switch after this call (pair 3).
 */
static inline bool ktop_ring_enter(struct ktop_ring *ring)
{
	if (KTOP_RARE(__atomic_exchange_n(&ring->busy, 1, __ATOMIC_SEQ_CST))) {	/* pair 3 */
		ktop_count(&ring->nested, 1);
		return false;
	}
	return true;
}

/* Ends what enter began, without an event. */
static inline void ktop_ring_leave(struct ktop_ring *ring)
{
	__atomic_store_n(&ring->busy, 0, __ATOMIC_RELEASE);		/* pair 9 */
}

/*
 * For reserve alone, when `need` bytes are not known to be free. Reads how far the drainer has come, and lays a
 * pad where the record would not fit before the end. False: the ring is full.
 */
bool ktop_ring_extend(struct ktop_ring *ring, uint64_t need);

/* Any context of the owning CPU. Is there room for an event of up to `payload` bytes, as far as is known? */
static inline bool ktop_ring_has(const struct ktop_ring *ring, uint32_t payload)
{
	return ring->next + ktop_ring_bytes(payload) <= ring->limit;
}

/* After enter, where ktop_ring_has(). Sets the event's time. Its room is the caller's until commit or leave. */
static inline struct ktop_record *ktop_ring_next(struct ktop_ring *ring, uint64_t time)
{
	struct ktop_record *record = (struct ktop_record *)ring->next;

	record->time = time;
	return record;
}

/*
 * After enter. Gives room for an event of up to `payload` bytes, and sets its time. The room is the caller's until
 * commit or leave. NULL: the ring is full; the event is dropped and counted, and the ring is left.
 */
static inline struct ktop_record *ktop_ring_reserve(struct ktop_ring *ring, uint32_t payload,
	uint64_t time)
{
	if (KTOP_RARE(!ktop_ring_has(ring, payload)) && !ktop_ring_extend(ring, ktop_ring_bytes(payload))) {
		ktop_count(&ring->full, 1);
		ktop_ring_leave(ring);
		return NULL;
	}
	return ktop_ring_next(ring, time);
}

/* Ends what enter began: the drainer may now read the event, of `size` bytes of payload. */
static inline void ktop_ring_commit(struct ktop_ring *ring, struct ktop_record *record,
	uint16_t id, uint32_t size)
{
	uint64_t bytes = ktop_ring_bytes(size);

	record->id = id;
	record->size = (uint16_t)size;
	ring->next = (uint8_t *)record + bytes;
	ktop_count(&ring->committed, 1);
	__atomic_store_n(&ring->head, ring->head + bytes, __ATOMIC_RELEASE);	/* pair 1 */
	ktop_ring_leave(ring);
}

/* The drainer, after it has switched the writers off. True: one may still be writing an event. */
bool ktop_ring_busy(const struct ktop_ring *ring);

/* Any context. Events since boot: dropped, unread ones that were given up included; all of them. */
uint64_t ktop_ring_lost(const struct ktop_ring *ring);
uint64_t ktop_ring_taken(const struct ktop_ring *ring);

/*
 * The drainer. Roll: from now on nobody reads. Settle: somebody does, and the tail is the drainer's again. False: not
 * yet, since an event is being written; ask again later. Until then no record may be read.
 */
void ktop_ring_roll(struct ktop_ring *ring);
bool ktop_ring_settle(struct ktop_ring *ring);

/*
 * The drainer. Head: up to where records can be read. First: the oldest record before `head`, NULL when there is
 * none; it stays valid until it is dropped. Drop: gives the room of that first record back to the writer.
 */
uint64_t ktop_ring_head(const struct ktop_ring *ring);
const struct ktop_record *ktop_ring_first(struct ktop_ring *ring, uint64_t head);
void ktop_ring_drop(struct ktop_ring *ring, const struct ktop_record *record);

#endif
