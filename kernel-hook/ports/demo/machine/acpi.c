/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acpi.h"
#include "layout.h"
#include "memory.h"
#include "string.h"
#include "x86.h"

/* ACPI 6.5, sections 5.2.5 to 5.2.12 and 16.1.7. QEMU's tables lie below 4 GiB. */
struct root_pointer {
	char signature[8];
	uint8_t checksum, oem[6], revision;
	uint32_t table;
} __attribute__((packed));

struct table {
	char signature[4];
	uint32_t length;
	uint8_t rest[28];
} __attribute__((packed));

enum { MADT_CPU = 0, MADT_IO_APIC = 1, MADT_OVERRIDE = 2, CPU_ENABLED = 1 };
enum { FADT_DSDT = 40, FADT_PM1A_CONTROL = 64, SLEEP_ENABLE = 1 << 13 };

static const struct table *root_table;

static uint32_t read32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static const struct root_pointer *search_root(void)
{
	for (uint64_t at = 0xe0000; at < 0x100000; at += 16) {
		if (memcmp(memory_at(at), "RSD PTR ", 8) == 0)
			return memory_at(at);
	}
	return NULL;
}

static const struct table *find(const char *signature)
{
	uint32_t count = root_table == NULL ? 0 : (root_table->length - sizeof(*root_table)) / 4;
	const uint8_t *entries = (const uint8_t *)(root_table + 1);

	for (uint32_t i = 0; i < count; i++) {
		const struct table *table = memory_at(read32(entries + 4 * i));

		if (memcmp(table->signature, signature, 4) == 0)
			return table;
	}
	return NULL;
}

static void read_entry(const uint8_t *entry, struct acpi_machine *machine)
{
	if (entry[0] == MADT_CPU && (read32(entry + 4) & CPU_ENABLED)) {
		if (machine->cpus < CPU_MAX)
			machine->apics[machine->cpus++] = entry[3];
		else
			machine->beyond++;
	} else if (entry[0] == MADT_IO_APIC && machine->io_apic == 0) {
		machine->io_apic = read32(entry + 4);
	} else if (entry[0] == MADT_OVERRIDE && entry[3] < 16) {
		machine->lines[entry[3]] = read32(entry + 4);
	}
}

void acpi_read(uint64_t root, struct acpi_machine *machine)
{
	const struct root_pointer *pointer = root != 0 ? memory_at(root) : search_root();
	const struct table *madt;

	*machine = (struct acpi_machine) { .local_apic = 0xfee00000 };
	for (uint32_t i = 0; i < 16; i++)
		machine->lines[i] = i;
	if (pointer != NULL)
		root_table = memory_at(pointer->table);
	madt = find("APIC");
	if (madt != NULL) {
		const uint8_t *at = (const uint8_t *)madt + 44;

		machine->local_apic = read32((const uint8_t *)madt + 36);
		for (; at + 2 <= (const uint8_t *)madt + madt->length && at[1] != 0; at += at[1])
			read_entry(at, machine);
	}
	if (machine->cpus == 0)
		machine->cpus = 1;
}

/* Finds the sleep type of state S5: the first element of the package \_S5_ in the bytecode. False: there is none. */
static bool soft_off(const struct table *dsdt, uint16_t *type)
{
	const uint8_t *at = (const uint8_t *)dsdt;

	for (uint32_t i = sizeof(*dsdt); i + 10 < dsdt->length; i++) {
		if (memcmp(at + i, "_S5_\x12", 5) == 0) {
			const uint8_t *element = at + i + 5 + 1 + (at[i + 5] >> 6) + 1;

			*type = element[0] == 0x0a ? element[1] : element[0];
			return true;
		}
	}
	return false;
}

void acpi_power_off(void)
{
	const uint8_t *fadt = (const uint8_t *)find("FACP");
	uint16_t type;

	if (fadt != NULL && soft_off(memory_at(read32(fadt + FADT_DSDT)), &type))
		out16((uint16_t)read32(fadt + FADT_PM1A_CONTROL),
			(uint16_t)(type << 10 | SLEEP_ENABLE));
}
