/* SPDX-License-Identifier: MIT */
/*
 * A split virtqueue (Virtual I/O Device 1.2, section 2.7) that is polled. Its buffers stay: each
 * descriptor names one of them for ever, and chains are not used. One caller at a time.
 *
 * The rings are shared with a device that is not trusted: an index, id or length from there that
 * cannot be true marks the queue broken, and nothing more is taken from it until it is made anew.
 *
 * Barrier pairs, the other side being the device's:
 *   10  available->index: ktop_virtq_offer releases the descriptor and the ring entry.
 *   11  used->index: ktop_virtq_take acquires the entry, and what the device wrote to the buffer.
 *   12  available->index is stored, then used->flags loaded, in ktop_virtq_wants_notify: the device
 *       stores its flags, then loads the index.
 */
#ifndef KTOP_VIRTQ_H
#define KTOP_VIRTQ_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_VIRTQ_PAGE = 4096,		/* alignment of the rings' memory */
	KTOP_VIRTQ_SIZE_MAX = 256,	/* entries */
	KTOP_VIRTQ_MEMORY = 3 * KTOP_VIRTQ_PAGE,
	KTOP_VIRTQ_BUFFERS_MAX = 32,
};

/* The buffers of a queue, one after the other in physical memory. */
struct ktop_virtq_buffers {
	uint64_t physical;
	uint32_t size;			/* bytes of each */
	uint32_t count;			/* at most KTOP_VIRTQ_BUFFERS_MAX, and the queue's size */
	bool device_writes;		/* else it reads them */
};

struct ktop_virtq_memory {
	_Alignas(KTOP_VIRTQ_PAGE) uint8_t bytes[KTOP_VIRTQ_MEMORY];
};

struct ktop_virtq {
	struct ktop_virtq_descriptor *descriptors;
	struct ktop_virtq_available *available;
	struct ktop_virtq_used *used;
	struct ktop_virtq_buffers buffers;
	uint64_t physical;		/* of the descriptors, the beginning of its memory */
	uint32_t door;			/* where to notify, as the device's transport likes it */
	uint32_t in_flight;		/* bit i: the device has buffer i */
	uint16_t index;			/* of the queue in the device */
	uint16_t size;			/* entries, a power of two */
	uint16_t offered, taken;	/* buffers so far, modulo 65536 as the rings' own indices */
	bool broken;
};

/* KTOP_VIRTQ_MEMORY bytes at `memory`, which are cleared. Size is at most KTOP_VIRTQ_SIZE_MAX. */
void ktop_virtq_init(struct ktop_virtq *queue, void *memory, uint64_t physical, uint16_t size);

/* Where the two rings lie behind the descriptors, in bytes: as legacy devices want it (2.7.2). */
uint32_t ktop_virtq_available_at(uint16_t size);
uint32_t ktop_virtq_used_at(uint16_t size);

/* After init: what is to be sent round. */
void ktop_virtq_set_buffers(struct ktop_virtq *queue, const struct ktop_virtq_buffers *buffers);

/* A buffer that the device does not have; false: there is none. */
bool ktop_virtq_idle(const struct ktop_virtq *queue, uint32_t *buffer);

/* Gives an idle buffer's first `size` bytes to the device. */
void ktop_virtq_offer(struct ktop_virtq *queue, uint32_t buffer, uint32_t size);

/* Gives all idle buffers to a device that writes them. */
void ktop_virtq_offer_all(struct ktop_virtq *queue);

/* A buffer that came back, and how much the device says it wrote: at most the buffer's size. */
bool ktop_virtq_take(struct ktop_virtq *queue, uint32_t *buffer, uint32_t *written);

/* Is the device to be told of what was offered? */
bool ktop_virtq_wants_notify(const struct ktop_virtq *queue);

#endif
