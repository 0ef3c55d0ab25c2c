/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci.h"
#include "virtio_pci.h"

enum { CONSOLE = 0x10031af4, CONSOLE_MODERN = 0x10431af4 };	/* 4.1.2.1 */

/* Notes the end of the known buses: behind the last bus that has a function, or to which a bridge leads. */
static void learn_buses(struct ktop_virtio_search *search)
{
	uint32_t own = search->at >> 8, behind = ktop_pci_last_bus(search->at);
	uint32_t end = ((behind > own ? behind : own) + 1) << 8;

	if (end > search->end)
		search->end = end;
}

bool ktop_virtio_pci_next(struct ktop_virtio_search *search, uint32_t limit)
{
	for (; ktop_pci_next(&search->at, &limit); search->at++) {
		uint32_t id = ktop_pci_read(search->at, KTOP_PCI_ID);

		learn_buses(search);
		if (id == CONSOLE || id == CONSOLE_MODERN)
			return true;
	}
	return false;
}

/*
 * A function that has both interfaces is driven by the modern one. A function that was plugged in late may have no
 * addresses, since firmware gives them at boot: it is driven by the window in its configuration.
 */
bool ktop_virtio_pci_init(struct ktop_virtio_pci *self, uint32_t function,
	const struct ktop_virtio_search *search)
{
	if (!(search->map && ktop_virtio_modern_init(self, function, search->map)) &&
			!ktop_virtio_legacy_init(self, function) &&
			!(search->late && ktop_virtio_modern_init(self, function, NULL)))
		return false;
	/* Queues are polled, but the device would still interrupt when its configuration changes, on a shared line. */
	ktop_pci_enable(function, KTOP_PCI_MASTER | KTOP_PCI_NO_INTERRUPT);
	self->function = function;
	return true;
}
