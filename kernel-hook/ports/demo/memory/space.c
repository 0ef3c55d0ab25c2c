/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/memory.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/machine/x86.h"
#include "space.h"

enum { ENTRIES = 512, LEVELS = 4, PRESENT = 1, WRITE = 2, USER = 4, LARGE = 0x80 };

#define ADDRESS_MASK 0x000ffffffffff000ull
#define USER_END (1ull << 47)

extern uint64_t boot_table[ENTRIES];

uint64_t space_kernel(void)
{
	return memory_physical(boot_table);
}

void space_drop_identity(void)
{
	boot_table[0] = 0;
	page_table_set(space_kernel());
}

uint64_t space_new(void)
{
	uint64_t *table = page_alloc_clear();

	if (table == NULL)
		return 0;
	memcpy(table + ENTRIES / 2, boot_table + ENTRIES / 2, PAGE_SIZE / 2);
	return memory_physical(table);
}

static void free_level(uint64_t *table, uint32_t entries, uint32_t level)
{
	for (uint32_t i = 0; i < entries; i++) {
		void *below = memory_at(table[i] & ADDRESS_MASK);

		if (!(table[i] & PRESENT))
			continue;
		if (level > 1)
			free_level(below, ENTRIES, level - 1);
		else
			page_free(below, 0);
	}
	page_free(table, 0);
}

void space_free(uint64_t space)
{
	free_level(memory_at(space), ENTRIES / 2, LEVELS);
}

static uint32_t index_at(uint64_t address, uint32_t level)
{
	return address >> (12 + 9 * (level - 1)) & (ENTRIES - 1);
}

/* A new entry needs no flush of the TLB: it does not hold absent pages. */
bool space_map(uint64_t space, uint64_t address, void *page)
{
	uint64_t *table = memory_at(space);

	for (uint32_t level = LEVELS; level > 1; level--) {
		uint64_t *entry = &table[index_at(address, level)];

		if (!(*entry & PRESENT)) {
			void *below = page_alloc_clear();

			if (below == NULL)
				return false;
			*entry = memory_physical(below) | PRESENT | WRITE | USER;
		}
		table = memory_at(*entry & ADDRESS_MASK);
	}
	table[index_at(address, 1)] = memory_physical(page) | PRESENT | WRITE | USER;
	return true;
}

void *space_find(uint64_t space, uint64_t address)
{
	const uint64_t *table = memory_at(space & ADDRESS_MASK);

	if (address >= USER_END)
		return NULL;
	for (uint32_t level = LEVELS;; level--) {
		uint64_t entry = table[index_at(address, level)];

		if (!(entry & PRESENT) || !(entry & USER) || (entry & LARGE && level > 1))
			return NULL;
		if (level == 1)
			return (char *)memory_at(entry & ADDRESS_MASK) + address % PAGE_SIZE;
		table = memory_at(entry & ADDRESS_MASK);
	}
}

static uint64_t within_page(uint64_t address, uint64_t size)
{
	uint64_t rest = PAGE_SIZE - address % PAGE_SIZE;

	return size < rest ? size : rest;
}

bool space_read(uint64_t space, uint64_t address, void *to, uint64_t size)
{
	while (size > 0) {
		uint64_t part = within_page(address, size);
		const void *from = space_find(space, address);

		if (from == NULL)
			return false;
		memcpy(to, from, part);
		to = (char *)to + part;
		address += part;
		size -= part;
	}
	return true;
}

bool space_write(uint64_t space, uint64_t address, const void *from, uint64_t size)
{
	while (size > 0) {
		uint64_t part = within_page(address, size);
		void *to = space_find(space, address);

		if (to == NULL)
			return false;
		memcpy(to, from, part);
		from = (const char *)from + part;
		address += part;
		size -= part;
	}
	return true;
}
