/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci.h"
#include "virtio_pci.h"

enum { CONSOLE = 0x10031af4, CONSOLE_MODERN = 0x10431af4 };	/* 4.1.2.1 */

/* Nothing comes up behind the last bus that anything is on, or a bridge leads to. */
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
 * A function that has both interfaces is driven by the modern one. What was plugged in late may have
 * no address, for it is firmware that gives them: then there is the window in its configuration.
 */
bool ktop_virtio_pci_init(struct ktop_virtio_pci *self, uint32_t function,
	const struct ktop_virtio_search *search)
{
	if (!(search->map && ktop_virtio_modern_init(self, function, search->map)) &&
			!ktop_virtio_legacy_init(self, function) &&
			!(search->late && ktop_virtio_modern_init(self, function, NULL)))
		return false;
	/* Polled queues still have configuration interrupts, on a line that others may share. */
	ktop_pci_enable(function, KTOP_PCI_MASTER | KTOP_PCI_NO_INTERRUPT);
	self->function = function;
	return true;
}
