/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The counts of a queue with one writer and one reader. The entries are in an array of the caller's: entry n is at
 * index n modulo the array's size. Nothing here waits. Nothing needs Linux: it is tested as host code.
 */
#ifndef KTOP_LINUX_QUEUE_H
#define KTOP_LINUX_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct queue {
	uint32_t head;			/* entries written so far; written by the writer */
	uint32_t tail;			/* entries read so far; written by the reader */
};

/* ---- the writer, on one CPU, any context ---- */

/* May the entry at `head` be written? The array has `size` entries. */
static inline bool queue_has_room(const struct queue *queue, uint32_t size)
{
	return queue->head - __atomic_load_n(&queue->tail, __ATOMIC_ACQUIRE) < size;	/* pair 16 */
}

/* Publishes the entry at `head`, which is complete. */
static inline void queue_put(struct queue *queue)
{
	__atomic_store_n(&queue->head, queue->head + 1, __ATOMIC_RELEASE);	/* pair 15 */
}

/* ---- the reader ---- */

/* Returns a head: the entries from `tail` up to it, itself excluded, may be read. */
static inline uint32_t queue_head(const struct queue *queue)
{
	return __atomic_load_n(&queue->head, __ATOMIC_ACQUIRE);	/* pair 15 */
}

/* All entries before `head` have been read: the writer may use their places. */
static inline void queue_drop(struct queue *queue, uint32_t head)
{
	__atomic_store_n(&queue->tail, head, __ATOMIC_RELEASE);	/* pair 16 */
}

/* ---- news: one mark for all queues of a reader ---- */

/* The writer, after it has put an entry. An exchange keeps what other writers have released before. */
static inline void queue_announce(bool *news)
{
	(void)__atomic_exchange_n(news, true, __ATOMIC_RELEASE);	/* pair 17 */
}

/* The reader, before it looks at the queues: an entry that it does not find there will be announced again. */
static inline void queue_take_news(bool *news)
{
	(void)__atomic_exchange_n(news, false, __ATOMIC_ACQUIRE);	/* pair 17 */
}

#endif
