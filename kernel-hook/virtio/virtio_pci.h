/* SPDX-License-Identifier: MIT */
/* virtio devices on PCI (Virtual I/O Device 1.2, section 4.1), by either of two interfaces. */
#ifndef KTOP_VIRTIO_PCI_H
#define KTOP_VIRTIO_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio.h"

/* Registers: where they are mapped, or where in the BAR they are. */
struct ktop_virtio_region {
	volatile uint8_t *at;		/* NULL: reached by the window */
	uint32_t bar, offset;
	uint32_t size;			/* bytes */
};

struct ktop_virtio_pci {
	struct ktop_virtio device;
	uint32_t function;		/* KTOP_NO_FUNCTION: none */

	/* legacy */
	uint16_t port;			/* the first of its I/O ports */

	/* modern */
	struct ktop_virtio_region common, notify, config;
	uint32_t notify_step;		/* bytes between the doors of two queues */
	uint32_t window;		/* its capability; 0: all is mapped */
};

#define KTOP_NO_FUNCTION 0xffffffffu

/* All zero to begin with, but for the last two. */
struct ktop_virtio_search {
	uint32_t at;			/* the function to look at next */
	uint32_t end;			/* of those on buses that are known of */
	bool late;			/* devices without addresses are driven by the window */
	void *(*map)(uint64_t physical, size_t size);
};

/*
 * thread, while nobody else uses PCI configuration. The next virtio-serial controller is the function
 * search->at, which the caller passes over; false: there is none among so many functions.
 */
bool ktop_virtio_pci_next(struct ktop_virtio_search *search, uint32_t limit);

/* The device there, by the best interface that can be had; false: by none. */
bool ktop_virtio_pci_init(struct ktop_virtio_pci *self, uint32_t function,
	const struct ktop_virtio_search *search);

/*
 * The interfaces. False: this PCI function lacks it, or firmware gave it no addresses. `map` makes
 * device registers addressable, or returns NULL; without it the modern one is driven by the window
 * in the function's configuration (4.1.4.9), for as long as the device is used.
 */
bool ktop_virtio_modern_init(struct ktop_virtio_pci *self, uint32_t function,
	void *(*map)(uint64_t physical, size_t size));
bool ktop_virtio_legacy_init(struct ktop_virtio_pci *self, uint32_t function);

#endif
