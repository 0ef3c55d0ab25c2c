/* SPDX-License-Identifier: MIT */
/*
 * PCI configuration space. Its registers have 32 bits and lie at multiples of 4. Context: thread, one caller at a time.
 * pci_ports.c has ktop_pci_read() and ktop_pci_write(), by mechanism 1 (PCI Local Bus 3.0, section 3.2.2.3.2): nobody
 * else may use its two I/O ports at the same time.
 */
#ifndef KTOP_PCI_H
#define KTOP_PCI_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_PCI_FUNCTIONS = 65536,	/* a function's number is bus << 8 | device << 3 | function */
	KTOP_PCI_CAPABILITIES = 48,	/* the most that fit in a function's 256 bytes */

	KTOP_PCI_ID = 0x00,		/* vendor, device << 16 */
	KTOP_PCI_COMMAND = 0x04,	/* command, status << 16 */
	KTOP_PCI_BAR = 0x10,		/* the first of six */
};

enum {					/* bits of the command register */
	KTOP_PCI_IO = 0x1,
	KTOP_PCI_MEMORY = 0x2,
	KTOP_PCI_MASTER = 0x4,
	KTOP_PCI_NO_INTERRUPT = 0x400,
};

/* `at`: the register, in bytes from the beginning of the function's configuration. */
uint32_t ktop_pci_read(uint32_t function, uint32_t at);
void ktop_pci_write(uint32_t function, uint32_t at, uint32_t value);

/* Is there such a function? */
bool ktop_pci_present(uint32_t function);

/*
 * Moves `*function` to the next function that is there, itself included, on any bus that firmware has numbered. It
 * looks at no more than `*limit` functions, at most 3 reads each, and counts them off `*limit`. False: there is none
 * among them.
 */
bool ktop_pci_next(uint32_t *function, uint32_t *limit);

/* The last bus behind this bridge; 0: the function is no bridge. */
uint32_t ktop_pci_last_bus(uint32_t function);

/* Sets bits of the command register. */
void ktop_pci_enable(uint32_t function, uint32_t bits);

/* Where base address register `bar`, 0 to 5, points; 0: nowhere. `io`: true for I/O ports, false for memory. */
uint64_t ktop_pci_bar(uint32_t function, uint32_t bar, bool *io);

/* The capability after the one at `at`, or the first for 0. 0: there is no more. A bad list may be a loop. */
uint32_t ktop_pci_capability(uint32_t function, uint32_t at);

#endif
