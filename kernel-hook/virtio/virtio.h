/* SPDX-License-Identifier: MIT */
/*
 * A virtio device, whatever bus it is on: what its transport can do, and what every driver does
 * first. Sections are those of Virtual I/O Device 1.2. One caller at a time; nothing waits but
 * ktop_virtio_start, and that for a bounded number of reads.
 */
#ifndef KTOP_VIRTIO_H
#define KTOP_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

struct ktop_virtio;
struct ktop_virtq;
struct ktop_virtq_buffers;
struct ktop_virtq_memory;

struct ktop_virtio_ops {
	/* Status (2.1). Writing 0 resets the device. A device that is gone reads as all ones. */
	uint8_t (*status)(struct ktop_virtio *self);
	void (*set_status)(struct ktop_virtio *self, uint8_t status);

	/* Feature bits (2.2) that are offered, and those that are accepted. */
	uint64_t (*features)(struct ktop_virtio *self);
	void (*accept)(struct ktop_virtio *self, uint64_t features);

	/* 32 bits of the device's own configuration. */
	uint32_t (*config)(struct ktop_virtio *self, uint32_t offset);

	/* Entries that this queue can have here; 0: no such queue, or none that virtq.h can be. */
	uint16_t (*queue_size)(struct ktop_virtio *self, uint16_t index);

	/* Hands the queue to the device, and notes in queue->door where it is notified. */
	bool (*queue_start)(struct ktop_virtio *self, struct ktop_virtq *queue);
	void (*notify)(struct ktop_virtio *self, const struct ktop_virtq *queue);
};

struct ktop_virtio {
	const struct ktop_virtio_ops *ops;
};

enum {					/* 2.1 */
	KTOP_VIRTIO_ACKNOWLEDGE = 1,
	KTOP_VIRTIO_DRIVER = 2,
	KTOP_VIRTIO_DRIVER_OK = 4,
	KTOP_VIRTIO_FEATURES_OK = 8,
	KTOP_VIRTIO_NEEDS_RESET = 64,
	KTOP_VIRTIO_FAILED = 128,
};

#define KTOP_VIRTIO_VERSION_1 (1ull << 32)		/* 6 */
#define KTOP_VIRTIO_ACCESS_PLATFORM (1ull << 33)

/* Steps 1 to 6 of 3.1.1: reset, and agree on features. False: one is missing, or the device is. */
bool ktop_virtio_start(struct ktop_virtio *device, uint64_t features);

/* Step 7 for one queue. Buffers that the device writes are offered. */
bool ktop_virtio_queue(struct ktop_virtio *device, struct ktop_virtq *queue, uint16_t index,
	const struct ktop_virtq_buffers *buffers, struct ktop_virtq_memory *memory,
	uint64_t physical);

/* Step 8: the device is live, and may be notified. */
void ktop_virtio_live(struct ktop_virtio *device);

/* Stops the device for good. */
void ktop_virtio_give_up(struct ktop_virtio *device);

/* Tells the device of what was offered, when it wants to know. */
void ktop_virtio_notify(struct ktop_virtio *device, const struct ktop_virtq *queue);

#endif
