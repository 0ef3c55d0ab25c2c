/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "../arch.h"
#include "virtio.h"
#include "virtq.h"

enum { RESET_READS = 10000 };		/* of the status, before a reset counts as failed */

static void add_status(struct ktop_virtio *device, uint8_t bits)
{
	device->ops->set_status(device, device->ops->status(device) | bits);
}

/* A reset is over when the status reads zero (4.1.4.3.2). */
static bool reset(struct ktop_virtio *device)
{
	device->ops->set_status(device, 0);
	for (uint32_t i = 0; i < RESET_READS; i++) {
		if (device->ops->status(device) == 0)
			return true;
		ktop_relax();
	}
	return false;
}

bool ktop_virtio_start(struct ktop_virtio *device, uint64_t features)
{
	uint64_t offered;

	if (!reset(device))
		return false;
	add_status(device, KTOP_VIRTIO_ACKNOWLEDGE);
	add_status(device, KTOP_VIRTIO_DRIVER);
	offered = device->ops->features(device);
	if (features & ~offered)
		return false;
	/* Legacy devices offer neither of these, and have no FEATURES_OK (3.1.2). */
	features |= offered & (KTOP_VIRTIO_VERSION_1 | KTOP_VIRTIO_ACCESS_PLATFORM);
	device->ops->accept(device, features);
	if (!(features & KTOP_VIRTIO_VERSION_1))
		return true;
	add_status(device, KTOP_VIRTIO_FEATURES_OK);
	return device->ops->status(device) & KTOP_VIRTIO_FEATURES_OK;
}

bool ktop_virtio_queue(struct ktop_virtio *device, struct ktop_virtq *queue, uint16_t index,
	const struct ktop_virtq_buffers *buffers, struct ktop_virtq_memory *memory,
	uint64_t physical)
{
	uint16_t size = device->ops->queue_size(device, index);

	if (size == 0 || size > KTOP_VIRTQ_SIZE_MAX || size & (size - 1))
		return false;
	ktop_virtq_init(queue, memory, physical, size);
	queue->index = index;
	ktop_virtq_set_buffers(queue, buffers);
	if (buffers->device_writes)
		ktop_virtq_offer_all(queue);
	return device->ops->queue_start(device, queue);
}

void ktop_virtio_live(struct ktop_virtio *device)
{
	add_status(device, KTOP_VIRTIO_DRIVER_OK);
}

void ktop_virtio_give_up(struct ktop_virtio *device)
{
	device->ops->set_status(device, 0);
	device->ops->set_status(device, KTOP_VIRTIO_FAILED);
}

void ktop_virtio_notify(struct ktop_virtio *device, const struct ktop_virtq *queue)
{
	if (ktop_virtq_wants_notify(queue))
		device->ops->notify(device, queue);
}
