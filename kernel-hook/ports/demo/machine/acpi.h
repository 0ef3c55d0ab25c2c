/* SPDX-License-Identifier: MIT */
/* What the machine says of itself in ACPI's tables. */
#ifndef ACPI_H
#define ACPI_H

#include <stdint.h>

struct acpi_machine {
	uint32_t cpus;			/* at least 1 */
	uint32_t apics[64];		/* their local APICs' ids, in the order of the MADT */
	uint64_t local_apic;		/* physical address */
	uint64_t io_apic;		/* the first; 0: none */
	uint32_t lines[16];		/* ISA interrupt: line of the I/O APIC */
	uint32_t beyond;		/* CPUs that this kernel has no room for */
};

/* thread, at start-up. root: the physical address of the RSDP; 0: to be searched for. */
void acpi_read(uint64_t root, struct acpi_machine *machine);

/* thread. Turns the machine off, or returns if it cannot. */
void acpi_power_off(void);

#endif
