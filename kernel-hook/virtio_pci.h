/* virtio devices on PCI (Virtual I/O Device 1.2, section 4.1), by either of two interfaces. */
#ifndef KTOP_VIRTIO_PCI_H
#define KTOP_VIRTIO_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio.h"

/* Mapped registers. */
struct ktop_virtio_region {
	volatile uint8_t *at;
	uint32_t size;			/* bytes */
};

struct ktop_virtio_pci {
	struct ktop_virtio device;

	/* legacy */
	uint16_t port;			/* the first of its I/O ports */

	/* modern */
	struct ktop_virtio_region common, notify, config;
	uint32_t notify_step;		/* bytes between the doors of two queues */
};

/*
 * thread, at boot, while nobody else uses PCI configuration. Finds virtio-serial controllers on all
 * buses that the firmware has numbered, and returns how many. `map` makes device registers
 * addressable, or returns NULL.
 */
uint32_t ktop_virtio_pci_find(struct ktop_virtio_pci *found, uint32_t limit,
	void *(*map)(uint64_t physical, size_t size));

/* The interfaces. False: this PCI function lacks it, or firmware gave it no addresses. */
bool ktop_virtio_modern_init(struct ktop_virtio_pci *self, uint32_t function,
	void *(*map)(uint64_t physical, size_t size));
bool ktop_virtio_legacy_init(struct ktop_virtio_pci *self, uint32_t function);

#endif
