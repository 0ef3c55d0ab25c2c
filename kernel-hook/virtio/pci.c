/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "pci.h"

enum {
	HEADER = 0x0c,			/* type of the header << 16 */
	BUSES = 0x18,			/* in a bridge: the last bus behind it << 16 */
	CAPABILITIES = 0x34,
	BRIDGE = 0x10000, TYPE = 0x7f0000,	/* in HEADER */
	MANY_FUNCTIONS = 0x800000,	/* in HEADER */
	HAS_CAPABILITIES = 0x100000,	/* in KTOP_PCI_COMMAND */
};

bool ktop_pci_present(uint32_t function)
{
	return (ktop_pci_read(function, KTOP_PCI_ID) & 0xffff) != 0xffff;
}

/* Functions 1 to 7 of a device exist only if its function 0 says so. */
static bool single(uint32_t function)
{
	uint32_t first = function & ~7u;

	return !ktop_pci_present(first) || !(ktop_pci_read(first, HEADER) & MANY_FUNCTIONS);
}

bool ktop_pci_next(uint32_t *function, uint32_t *limit)
{
	while (*limit > 0 && *function < KTOP_PCI_FUNCTIONS) {
		--*limit;
		if (*function & 7 && single(*function))
			*function |= 7;
		else if (ktop_pci_present(*function))
			return true;
		else if (!(*function & 7))
			*function |= 7;
		++*function;
	}
	return false;
}

uint32_t ktop_pci_last_bus(uint32_t function)
{
	if ((ktop_pci_read(function, HEADER) & TYPE) != BRIDGE)
		return 0;
	return ktop_pci_read(function, BUSES) >> 16 & 0xff;
}

void ktop_pci_enable(uint32_t function, uint32_t bits)
{
	/* A one clears a bit of the status half, so zeros are written there. */
	uint32_t command = ktop_pci_read(function, KTOP_PCI_COMMAND) & 0xffff;

	ktop_pci_write(function, KTOP_PCI_COMMAND, command | bits);
}

uint64_t ktop_pci_bar(uint32_t function, uint32_t bar, bool *io)
{
	uint32_t low = ktop_pci_read(function, KTOP_PCI_BAR + 4 * bar);
	uint64_t high = 0;

	*io = low & 1;
	if (*io)
		return low & ~3u;
	if ((low & 6) == 4 && bar < 5)
		high = ktop_pci_read(function, KTOP_PCI_BAR + 4 * (bar + 1));
	return high << 32 | (low & ~15u);
}

uint32_t ktop_pci_capability(uint32_t function, uint32_t at)
{
	if (!(ktop_pci_read(function, KTOP_PCI_COMMAND) & HAS_CAPABILITIES))
		return 0;
	if (at == 0)
		return ktop_pci_read(function, CAPABILITIES) & 0xfc;
	return ktop_pci_read(function, at) >> 8 & 0xfc;
}
