/* SPDX-License-Identifier: MIT */
/* The legacy interface, from before version 1: registers in I/O ports (4.1.4.10). */
#include <stdbool.h>
#include <stdint.h>

#include "../arch.h"
#include "pci.h"
#include "virtio_pci.h"
#include "virtq.h"

/* Offsets of the registers. */
enum {
	DEVICE_FEATURES = 0,		/* 32 bits */
	DRIVER_FEATURES = 4,		/* 32 bits */
	QUEUE_PAGE = 8,			/* 32 bits: physical address / 4096 */
	QUEUE_SIZE = 12,		/* 16 bits */
	QUEUE_SELECT = 14,		/* 16 bits */
	QUEUE_NOTIFY = 16,		/* 16 bits */
	STATUS = 18,			/* 8 bits */
	CONFIG = 20,			/* here while MSI-X is off, as it always is */
};

static uint16_t port(const struct ktop_virtio *self, uint32_t at)
{
	const struct ktop_virtio_pci *pci = (const struct ktop_virtio_pci *)self;

	return (uint16_t)(pci->port + at);
}

static uint8_t status(struct ktop_virtio *self)
{
	return ktop_in8(port(self, STATUS));
}

static void set_status(struct ktop_virtio *self, uint8_t bits)
{
	ktop_out8(port(self, STATUS), bits);
}

static uint64_t features(struct ktop_virtio *self)
{
	return ktop_in32(port(self, DEVICE_FEATURES));
}

static void accept(struct ktop_virtio *self, uint64_t bits)
{
	ktop_out32(port(self, DRIVER_FEATURES), (uint32_t)bits);
}

static uint32_t config(struct ktop_virtio *self, uint32_t offset)
{
	return ktop_in32(port(self, CONFIG + offset));
}

/* The driver cannot choose the size of a legacy queue. */
static uint16_t queue_size(struct ktop_virtio *self, uint16_t index)
{
	uint16_t size;

	ktop_out16(port(self, QUEUE_SELECT), index);
	size = ktop_in16(port(self, QUEUE_SIZE));
	return size <= KTOP_VIRTQ_SIZE_MAX ? size : 0;
}

static bool queue_start(struct ktop_virtio *self, struct ktop_virtq *queue)
{
	uint64_t page = queue->physical / KTOP_VIRTQ_PAGE;

	if (page > UINT32_MAX)
		return false;
	ktop_out16(port(self, QUEUE_SELECT), queue->index);
	ktop_out32(port(self, QUEUE_PAGE), (uint32_t)page);
	return true;
}

static void notify(struct ktop_virtio *self, const struct ktop_virtq *queue)
{
	ktop_out16(port(self, QUEUE_NOTIFY), queue->index);
}

static const struct ktop_virtio_ops legacy_ops = {
	.status = status,
	.set_status = set_status,
	.features = features,
	.accept = accept,
	.config = config,
	.queue_size = queue_size,
	.queue_start = queue_start,
	.notify = notify,
};

bool ktop_virtio_legacy_init(struct ktop_virtio_pci *self, uint32_t function)
{
	bool io;
	uint64_t base = ktop_pci_bar(function, 0, &io);

	if (!KTOP_HAS_PORTS || !io || base == 0 || base > UINT16_MAX)
		return false;
	*self = (struct ktop_virtio_pci) { .device.ops = &legacy_ops, .port = (uint16_t)base };
	ktop_pci_enable(function, KTOP_PCI_IO);
	return true;
}
