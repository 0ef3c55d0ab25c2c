/* SPDX-License-Identifier: MIT */
/*
 * The device's side of a split virtqueue, for tests. It is written from the specification (Virtual I/O
 * Device 1.2, section 2.7), not from kernel-hook/virtio/virtq.h. Addresses are plain pointers.
 */
#ifndef DEVICE_QUEUE_H
#define DEVICE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct device_queue {
	uint8_t *descriptors, *available, *used;
	uint16_t size;
	uint16_t seen;			/* available entries that were taken so far */
};

struct device_buffer {
	uint16_t id;
	uint8_t *data;
	uint32_t length;
	uint16_t flags;			/* 2: for the device to write */
};

static inline uint16_t device_get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline void device_put16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Finds all parts from the address of the first, as legacy devices do (2.7.2). */
static inline struct device_queue device_queue_at(void *memory, uint16_t size)
{
	uint8_t *at = memory;
	uint32_t end = 16u * size + 6 + 2u * size;

	return (struct device_queue) {
		.descriptors = at,
		.available = at + 16u * size,
		.used = at + (end + 4095) / 4096 * 4096,
		.size = size,
	};
}

/* Takes the next buffer that the driver offers. */
static inline bool device_pop(struct device_queue *queue, struct device_buffer *buffer)
{
	const uint8_t *descriptor;
	uint64_t address;

	if (queue->seen == device_get16(queue->available + 2))
		return false;
	buffer->id = device_get16(queue->available + 4 + 2 * (queue->seen++ % queue->size));
	descriptor = queue->descriptors + 16 * buffer->id;
	memcpy(&address, descriptor, sizeof(address));
	memcpy(&buffer->length, descriptor + 8, sizeof(buffer->length));
	buffer->data = (uint8_t *)(uintptr_t)address;
	buffer->flags = device_get16(descriptor + 12);
	return true;
}

/* Gives a buffer back. Id and length may be wrong: a hostile device. */
static inline void device_push(struct device_queue *queue, uint32_t id, uint32_t length)
{
	uint16_t index = device_get16(queue->used + 2);
	uint8_t *entry = queue->used + 4 + 8 * (index % queue->size);

	memcpy(entry, &id, sizeof(id));
	memcpy(entry + 4, &length, sizeof(length));
	device_put16(queue->used + 2, (uint16_t)(index + 1));
}

#endif
