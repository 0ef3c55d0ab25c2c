/* SPDX-License-Identifier: MIT */
/*
 * virtio devices on PCI (Virtual I/O Device 1.2, section 4.1), by the modern or the legacy interface.
 *
 * The window is a capability in a function's configuration through which its registers can be reached one at a time,
 * even if the function has no address in memory (4.1.4.9).
 */
#ifndef KTOP_VIRTIO_PCI_H
#define KTOP_VIRTIO_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio.h"

/* A structure of registers: where it is mapped, and where it lies in a BAR. */
struct ktop_virtio_region {
	volatile uint8_t *at;		/* NULL: reached through the window */
	uint32_t bar, offset;		/* which BAR, and bytes from its beginning */
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
	uint32_t window;		/* the window's capability; 0: all is mapped */
};

#define KTOP_NO_FUNCTION 0xffffffffu

/* A search over all PCI functions. It begins with `at` and `end` zero; the caller sets the last two fields. */
struct ktop_virtio_search {
	uint32_t at;			/* the function to look at next */
	uint32_t end;			/* behind the last function on a known bus */
	bool late;			/* after boot, when a device may have no addresses: try the window, too */
	void *(*map)(uint64_t physical, size_t size);	/* as in virtio_serial.h */
};

/*
 * thread, while nobody else uses PCI configuration. Moves search->at to the next virtio-serial controller; the caller
 * counts it up before the next call. False: there is none among the next `limit` functions.
 */
bool ktop_virtio_pci_next(struct ktop_virtio_search *search, uint32_t limit);

/* Takes the device of this function, by the best interface that can be had. False: there is none. */
bool ktop_virtio_pci_init(struct ktop_virtio_pci *self, uint32_t function,
	const struct ktop_virtio_search *search);

/*
 * The two interfaces. False: this function does not have it, or firmware gave it no addresses. `map` makes device
 * registers addressable, or returns NULL. If `map` is NULL, the modern interface is driven through the window.
 */
bool ktop_virtio_modern_init(struct ktop_virtio_pci *self, uint32_t function,
	void *(*map)(uint64_t physical, size_t size));
bool ktop_virtio_legacy_init(struct ktop_virtio_pci *self, uint32_t function);

#endif
