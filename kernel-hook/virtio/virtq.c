/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "../arch.h"
#include "virtq.h"

/* 2.7.5 */
struct ktop_virtq_descriptor {
	uint64_t address;
	uint32_t length;
	uint16_t flags;
	uint16_t next;
};
enum { DEVICE_WRITES = 2 };

/* 2.7.6 */
struct ktop_virtq_available {
	uint16_t flags;
	uint16_t index;
	uint16_t ring[];
};
enum { NO_INTERRUPT = 1 };

/* 2.7.8 */
struct ktop_virtq_used {
	uint16_t flags;
	uint16_t index;
	struct {
		uint32_t id;
		uint32_t length;
	} ring[];
};
enum { NO_NOTIFY = 1 };

uint32_t ktop_virtq_available_at(uint16_t size)
{
	return (uint32_t)sizeof(struct ktop_virtq_descriptor) * size;
}

uint32_t ktop_virtq_used_at(uint16_t size)
{
	/* The available ring ends with a field for event indices (2.7.6), even if these are not used. */
	uint32_t end = ktop_virtq_available_at(size) +
		(uint32_t)sizeof(struct ktop_virtq_available) + 2u * size + 2;

	return (end + KTOP_VIRTQ_PAGE - 1) & ~(KTOP_VIRTQ_PAGE - 1u);
}

void ktop_virtq_init(struct ktop_virtq *queue, void *memory, uint64_t physical, uint16_t size)
{
	uint8_t *bytes = memory;

	__builtin_memset(memory, 0, KTOP_VIRTQ_MEMORY);
	*queue = (struct ktop_virtq) {
		.descriptors = memory,
		.available = (struct ktop_virtq_available *)(bytes + ktop_virtq_available_at(size)),
		.used = (struct ktop_virtq_used *)(bytes + ktop_virtq_used_at(size)),
		.physical = physical,
		.size = size,
	};
	queue->available->flags = NO_INTERRUPT;
}

void ktop_virtq_set_buffers(struct ktop_virtq *queue, const struct ktop_virtq_buffers *buffers)
{
	queue->buffers = *buffers;
	if (queue->buffers.count > KTOP_VIRTQ_BUFFERS_MAX)
		queue->buffers.count = KTOP_VIRTQ_BUFFERS_MAX;
	if (queue->buffers.count > queue->size)
		queue->buffers.count = queue->size;
	for (uint32_t i = 0; i < queue->buffers.count; i++)
		queue->descriptors[i] = (struct ktop_virtq_descriptor) {
			.address = buffers->physical + (uint64_t)buffers->size * i,
			.flags = buffers->device_writes ? DEVICE_WRITES : 0,
		};
}

bool ktop_virtq_idle(const struct ktop_virtq *queue, uint32_t *buffer)
{
	for (uint32_t i = 0; i < queue->buffers.count; i++)
		if (!(queue->in_flight & 1u << i)) {
			*buffer = i;
			return true;
		}
	return false;
}

void ktop_virtq_offer(struct ktop_virtq *queue, uint32_t buffer, uint32_t size)
{
	queue->descriptors[buffer].length = size;
	queue->available->ring[queue->offered & (queue->size - 1)] = (uint16_t)buffer;
	queue->in_flight |= 1u << buffer;
	queue->offered++;
	__atomic_store_n(&queue->available->index, queue->offered, __ATOMIC_RELEASE);	/* pair 10 */
}

void ktop_virtq_offer_all(struct ktop_virtq *queue)
{
	uint32_t buffer;

	while (ktop_virtq_idle(queue, &buffer))
		ktop_virtq_offer(queue, buffer, queue->buffers.size);
}

bool ktop_virtq_take(struct ktop_virtq *queue, uint32_t *buffer, uint32_t *written)
{
	uint16_t index = __atomic_load_n(&queue->used->index, __ATOMIC_ACQUIRE);	/* pair 11 */
	uint16_t slot = queue->taken & (queue->size - 1);
	uint32_t id, length;

	if ((uint16_t)(index - queue->taken) > (uint16_t)(queue->offered - queue->taken))
		queue->broken = true;
	if (queue->broken || index == queue->taken)
		return false;
	/* Each is loaded once: the device may change it at any time. */
	id = __atomic_load_n(&queue->used->ring[slot].id, __ATOMIC_RELAXED);
	length = __atomic_load_n(&queue->used->ring[slot].length, __ATOMIC_RELAXED);
	if (id >= queue->buffers.count || !(queue->in_flight & 1u << id)) {
		queue->broken = true;
		return false;
	}
	queue->in_flight &= ~(1u << id);
	queue->taken++;
	*buffer = id;
	*written = length < queue->buffers.size ? length : queue->buffers.size;
	return true;
}

bool ktop_virtq_wants_notify(const struct ktop_virtq *queue)
{
	ktop_barrier();								/* pair 12 */
	return !(__atomic_load_n(&queue->used->flags, __ATOMIC_RELAXED) & NO_NOTIFY);
}
