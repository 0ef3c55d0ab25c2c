/* SPDX-License-Identifier: MIT */
/* Configuration space by I/O ports. A kernel without them has two functions of its own in place of this file. */
#include <stdint.h>

#include "../arch.h"
#include "pci.h"

enum { ADDRESS_PORT = 0xcf8, DATA_PORT = 0xcfc };
#define ENABLE 0x80000000u

uint32_t ktop_pci_read(uint32_t function, uint32_t at)
{
	ktop_out32(ADDRESS_PORT, ENABLE | function << 8 | (at & 0xfc));
	return ktop_in32(DATA_PORT);
}

void ktop_pci_write(uint32_t function, uint32_t at, uint32_t value)
{
	ktop_out32(ADDRESS_PORT, ENABLE | function << 8 | (at & 0xfc));
	ktop_out32(DATA_PORT, value);
}
