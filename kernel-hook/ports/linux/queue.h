/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A queue of one writer and one reader: how far each is. The entries are an array of the caller's; entry n is at
 * n modulo its size. Nothing here waits, nor needs a kernel: it is tested as host code.
 */
#ifndef KTOP_LINUX_QUEUE_H
#define KTOP_LINUX_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct queue {
	uint32_t head;			/* entries written since ever; the writer's */
	uint32_t tail;			/* entries read; the reader's */
};

/* ---- the writer, on one CPU, any context ---- */

/* Of an array of `size` entries, is the one at `head` free to be written? */
static inline bool queue_has_room(const struct queue *queue, uint32_t size)
{
	return queue->head - __atomic_load_n(&queue->tail, __ATOMIC_ACQUIRE) < size;	/* pair 16 */
}

/* The entry at `head` is written. */
static inline void queue_put(struct queue *queue)
{
	__atomic_store_n(&queue->head, queue->head + 1, __ATOMIC_RELEASE);	/* pair 15 */
}

/* ---- the reader ---- */

/* The entries from `tail` up to this one may be read. */
static inline uint32_t queue_head(const struct queue *queue)
{
	return __atomic_load_n(&queue->head, __ATOMIC_ACQUIRE);	/* pair 15 */
}

/* Those in front of this one have been read. */
static inline void queue_drop(struct queue *queue, uint32_t head)
{
	__atomic_store_n(&queue->tail, head, __ATOMIC_RELEASE);	/* pair 16 */
}

/* ---- word of entries, of all queues of one reader ---- */

/* The writer, after it has put one. An exchange, so that word of other writers is not lost with theirs. */
static inline void queue_announce(bool *news)
{
	(void)__atomic_exchange_n(news, true, __ATOMIC_RELEASE);	/* pair 17 */
}

/* The reader, before it looks at the queues: what it does not find there is announced anew. */
static inline void queue_take_news(bool *news)
{
	(void)__atomic_exchange_n(news, false, __ATOMIC_ACQUIRE);	/* pair 17 */
}

#endif
