#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci.h"
#include "virtio_pci.h"

enum { CONSOLE = 0x10031af4, CONSOLE_MODERN = 0x10431af4 };	/* 4.1.2.1 */

/* A function that has both interfaces is driven by the modern one. */
static bool init(struct ktop_virtio_pci *self, uint32_t function,
	void *(*map)(uint64_t physical, size_t size))
{
	if (!ktop_virtio_modern_init(self, function, map) &&
			!ktop_virtio_legacy_init(self, function))
		return false;
	/* Polled queues still have configuration interrupts, on a line that others may share. */
	ktop_pci_enable(function, KTOP_PCI_MASTER | KTOP_PCI_NO_INTERRUPT);
	return true;
}

uint32_t ktop_virtio_pci_find(struct ktop_virtio_pci *found, uint32_t limit,
	void *(*map)(uint64_t physical, size_t size))
{
	uint32_t count = 0;

	for (uint32_t at = 0; count < limit && ktop_pci_next(&at); at++) {
		uint32_t id = ktop_pci_read(at, KTOP_PCI_ID);

		if ((id == CONSOLE || id == CONSOLE_MODERN) && init(&found[count], at, map))
			count++;
	}
	return count;
}
