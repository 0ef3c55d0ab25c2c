/* SPDX-License-Identifier: MIT */
/*
 * PCI configuration space. Registers are 32 bits, at multiples of 4. The first two functions are in
 * pci_ports.c: by mechanism 1 (PCI Local Bus 3.0, section 3.2.2.3.2), whose two ports nobody else
 * may use meanwhile.
 */
#ifndef KTOP_PCI_H
#define KTOP_PCI_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_PCI_FUNCTIONS = 65536,	/* bus << 8 | device << 3 | function */
	KTOP_PCI_CAPABILITIES = 48,	/* more do not fit in a function */

	KTOP_PCI_ID = 0x00,		/* vendor, device << 16 */
	KTOP_PCI_COMMAND = 0x04,	/* command, status << 16 */
	KTOP_PCI_BAR = 0x10,
};

enum {					/* command */
	KTOP_PCI_IO = 0x1,
	KTOP_PCI_MEMORY = 0x2,
	KTOP_PCI_MASTER = 0x4,
	KTOP_PCI_NO_INTERRUPT = 0x400,
};

uint32_t ktop_pci_read(uint32_t function, uint32_t at);
void ktop_pci_write(uint32_t function, uint32_t at, uint32_t value);

bool ktop_pci_present(uint32_t function);	/* something is there */

/*
 * The next function from `*function` on that is there, on any bus that firmware has numbered. Looks
 * at no more than `*limit` functions, and counts them off there: each is at most 3 reads.
 */
bool ktop_pci_next(uint32_t *function, uint32_t *limit);

/* The last bus behind this bridge; 0: it is none. */
uint32_t ktop_pci_last_bus(uint32_t function);

/* Sets bits of the command register. */
void ktop_pci_enable(uint32_t function, uint32_t bits);

/* Where base address register `bar`, 0 to 5, points; 0: nowhere. `io`: to ports, not to memory. */
uint64_t ktop_pci_bar(uint32_t function, uint32_t bar, bool *io);

/* The capability behind the one at `at` (0: the first); 0: no more. A bad list may be a loop. */
uint32_t ktop_pci_capability(uint32_t function, uint32_t at);

#endif
