/* SPDX-License-Identifier: MIT */
/* Facts of the machine, from ACPI's tables. */
#ifndef ACPI_H
#define ACPI_H

#include <stdint.h>

struct acpi_machine {
	uint32_t cpus;			/* at least 1 */
	uint32_t apics[64];		/* ids of their local APICs, in the order of the table MADT */
	uint64_t local_apic;		/* physical address */
	uint64_t io_apic;		/* the first; 0: none */
	uint32_t lines[16];		/* for each ISA interrupt, its line of the I/O APIC */
	uint32_t beyond;		/* how many CPUs there are beyond those in `apics` */
};

/* thread, at start-up. `root`: the physical address of the RSDP; 0: it is searched for. */
void acpi_read(uint64_t root, struct acpi_machine *machine);

/* thread. Turns the machine off, or returns if it cannot. */
void acpi_power_off(void);

#endif
