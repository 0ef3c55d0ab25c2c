/* SPDX-License-Identifier: MIT */
/*
 * A split virtqueue (Virtual I/O Device 1.2, section 2.7), which is polled. Each descriptor always names the same
 * buffer; chains are not used. One caller at a time.
 *
 * The rings are shared with a device that is not trusted. An impossible index or id from the device marks the queue
 * as broken: nothing more is taken from it until it is set up again. A length is bounded.
 *
 * Barrier pairs; the device is the other side of each:
 *   10  available->index: ktop_virtq_offer releases the descriptor and the ring entry.
 *   11  used->index: ktop_virtq_take acquires the entry, and what the device wrote to the buffer.
 *   12  the driver stores available->index, then loads used->flags in ktop_virtq_wants_notify; the device
 *       stores its flags, then loads the index. At least one side sees the other's store.
 */
#ifndef KTOP_VIRTQ_H
#define KTOP_VIRTQ_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_VIRTQ_PAGE = 4096,		/* alignment of the rings' memory */
	KTOP_VIRTQ_SIZE_MAX = 256,	/* entries */
	KTOP_VIRTQ_MEMORY = 3 * KTOP_VIRTQ_PAGE,	/* bytes, for the most entries */
	KTOP_VIRTQ_BUFFERS_MAX = 32,
};

/* The buffers of a queue, one after the other in physical memory. */
struct ktop_virtq_buffers {
	uint64_t physical;		/* address of the first */
	uint32_t size;			/* bytes of each */
	uint32_t count;			/* at most KTOP_VIRTQ_BUFFERS_MAX and the queue's entries */
	bool device_writes;		/* true: the device writes them; false: it reads them */
};

/* The memory of a queue's descriptors and rings. */
struct ktop_virtq_memory {
	_Alignas(KTOP_VIRTQ_PAGE) uint8_t bytes[KTOP_VIRTQ_MEMORY];
};

struct ktop_virtq {
	struct ktop_virtq_descriptor *descriptors;
	struct ktop_virtq_available *available;
	struct ktop_virtq_used *used;
	struct ktop_virtq_buffers buffers;
	uint64_t physical;		/* address of the descriptors, which begin its memory */
	uint32_t door;			/* where to notify, for the operations of the bus */
	uint32_t in_flight;		/* bit i: the device has buffer i */
	uint16_t index;			/* the queue's number in the device */
	uint16_t size;			/* entries, a power of two */
	uint16_t offered, taken;	/* buffers so far, modulo 65536 like the indices of the rings */
	bool broken;			/* the device has written what cannot be true */
};

/* `memory` has KTOP_VIRTQ_MEMORY bytes, which are cleared; `size` entries, at most KTOP_VIRTQ_SIZE_MAX. */
void ktop_virtq_init(struct ktop_virtq *queue, void *memory, uint64_t physical, uint16_t size);

/* Where the two rings lie, in bytes from the descriptors: as legacy devices need it (2.7.2). */
uint32_t ktop_virtq_available_at(uint16_t size);
uint32_t ktop_virtq_used_at(uint16_t size);

/* After init: names the buffers of the queue. */
void ktop_virtq_set_buffers(struct ktop_virtq *queue, const struct ktop_virtq_buffers *buffers);

/* Finds a buffer that the device does not have. False: there is none. */
bool ktop_virtq_idle(const struct ktop_virtq *queue, uint32_t *buffer);

/* Gives an idle buffer's first `size` bytes to the device. */
void ktop_virtq_offer(struct ktop_virtq *queue, uint32_t buffer, uint32_t size);

/* Gives all idle buffers to a device that writes them. */
void ktop_virtq_offer_all(struct ktop_virtq *queue);

/*
 * Takes a buffer back that the device has finished with. `written`: how much the device says that it wrote, at most the
 * buffer's size. False: there is none, or the queue is broken.
 */
bool ktop_virtq_take(struct ktop_virtq *queue, uint32_t *buffer, uint32_t *written);

/* Does the device want to be notified of offered buffers? */
bool ktop_virtq_wants_notify(const struct ktop_virtq *queue);

#endif
