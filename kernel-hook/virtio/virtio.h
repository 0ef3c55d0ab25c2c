/* SPDX-License-Identifier: MIT */
/*
 * A virtio device on any bus: the operations of its bus, and the start-up that all drivers share. Section numbers in
 * this folder are those of Virtual I/O Device 1.2. One caller at a time. Nothing waits, except that
 * ktop_virtio_start() reads a bounded number of times until a reset is over.
 */
#ifndef KTOP_VIRTIO_H
#define KTOP_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

struct ktop_virtio;
struct ktop_virtq;
struct ktop_virtq_buffers;
struct ktop_virtq_memory;

/* What the bus does for the device. */
struct ktop_virtio_ops {
	/* The status (2.1). Writing 0 resets the device. A device that was unplugged reads as all ones. */
	uint8_t (*status)(struct ktop_virtio *self);
	void (*set_status)(struct ktop_virtio *self, uint8_t status);

	/* Features: the bits that the device offers (2.2). Accept: tells it the bits that the driver accepts. */
	uint64_t (*features)(struct ktop_virtio *self);
	void (*accept)(struct ktop_virtio *self, uint64_t features);

	/* Reads 32 bits of the device's configuration, `offset` bytes from its beginning. */
	uint32_t (*config)(struct ktop_virtio *self, uint32_t offset);

	/* How many entries this queue can have; 0: there is no such queue, or virtq.h cannot do it. */
	uint16_t (*queue_size)(struct ktop_virtio *self, uint16_t index);

	/* Start: gives the queue to the device, and notes in queue->door where to notify it. False: it cannot. */
	bool (*queue_start)(struct ktop_virtio *self, struct ktop_virtq *queue);
	void (*notify)(struct ktop_virtio *self, const struct ktop_virtq *queue);
};

struct ktop_virtio {
	const struct ktop_virtio_ops *ops;
};

enum {					/* bits of the status, 2.1 */
	KTOP_VIRTIO_ACKNOWLEDGE = 1,
	KTOP_VIRTIO_DRIVER = 2,
	KTOP_VIRTIO_DRIVER_OK = 4,
	KTOP_VIRTIO_FEATURES_OK = 8,
	KTOP_VIRTIO_NEEDS_RESET = 64,
	KTOP_VIRTIO_FAILED = 128,
};

#define KTOP_VIRTIO_VERSION_1 (1ull << 32)		/* 6 */
#define KTOP_VIRTIO_ACCESS_PLATFORM (1ull << 33)

/* Steps 1 to 6 of 3.1.1: reset, and agree on features. False: one of `features` or the device is missing. */
bool ktop_virtio_start(struct ktop_virtio *device, uint64_t features);

/* Step 7 for one queue. Buffers that the device writes are offered to it. False: the queue cannot be had. */
bool ktop_virtio_queue(struct ktop_virtio *device, struct ktop_virtq *queue, uint16_t index,
	const struct ktop_virtq_buffers *buffers, struct ktop_virtq_memory *memory,
	uint64_t physical);

/* Step 8: the device is live. From now on it may be notified. */
void ktop_virtio_live(struct ktop_virtio *device);

/* Stops the device for good: resets it, and tells it that the driver has failed. */
void ktop_virtio_give_up(struct ktop_virtio *device);

/* Notifies the device of the offered buffers, unless it does not want to be notified. */
void ktop_virtio_notify(struct ktop_virtio *device, const struct ktop_virtq *queue);

#endif
