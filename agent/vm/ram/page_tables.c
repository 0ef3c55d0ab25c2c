/* SPDX-License-Identifier: MIT */
#include "page_tables.h"

enum { ENTRY = 8, BITS_X86_64 = 48, BITS_WIDE = 57, PAGE_BITS = 12, LEVELS_MAX = 5 };

#define PHYSICAL UINT64_C(0x000ffffffffff000)	/* the bits of an entry that are an address: on x86-64 */
#define PHYSICAL_ARM UINT64_C(0x0000fffffffff000)	/* on aarch64, with at most 48 bits of addresses */

/* Intel SDM, volume 3, chapter 4: an entry is present; a table or, where that may be, a large page. */
enum { X86_PRESENT = 1, X86_LARGE = 1 << 7, X86_LARGE_LEVELS = 3 };

/* Arm ARM, D8.3: an entry is valid; a table, or at the last level a page. */
enum { ARM_VALID = 1, ARM_TABLE = 2 };

struct page_tables page_tables_x86_64(uint64_t cr3, bool wide)
{
	return (struct page_tables) {
		.root = cr3 & PHYSICAL, .levels = wide ? 5 : 4, .page_bits = PAGE_BITS,
		.bits = wide ? BITS_WIDE : BITS_X86_64,
	};
}

/* TCR_EL1: T1SZ in bits 16 to 21, TG1 in bits 30 and 31, EPD1 in bit 23 (Arm ARM, D17.2.139). */
bool page_tables_aarch64(struct page_tables *tables, uint64_t ttbr1, uint64_t tcr)
{
	static const unsigned granules[4] = { 0, 14, 12, 16 };	/* log2; 0: reserved */
	unsigned outside = tcr >> 16 & 63, page_bits = granules[tcr >> 30 & 3], entries;

	if (!page_bits || outside < 16 || outside > 39 || tcr >> 23 & 1)
		return false;
	entries = page_bits - 3;
	*tables = (struct page_tables) {
		.root = ttbr1 & PHYSICAL_ARM, .page_bits = page_bits, .bits = 64 - outside,
		.levels = (64 - outside - page_bits + entries - 1) / entries, .is_arm = true, .upper = true,
	};
	return true;
}

/* The bits above those that count are copies of the topmost one; on aarch64 they choose the tables. */
static bool is_in_tables(const struct page_tables *tables, uint64_t address)
{
	uint64_t above = address >> (tables->is_arm ? tables->bits : tables->bits - 1);
	uint64_t ones = UINT64_MAX >> (tables->is_arm ? tables->bits : tables->bits - 1);

	return above == ones || (!tables->upper && above == 0);
}

/* `level`: 0 is the last one. True: the entry is of a page, of 4 KiB or larger. *none: it is of nothing. */
static bool is_page(const struct page_tables *tables, unsigned level, uint64_t entry, bool *none)
{
	if (tables->is_arm) {
		bool table = entry & ARM_TABLE;

		*none = !(entry & ARM_VALID) || (level == 0 && !table);
		return level == 0 || !table;
	}
	*none = !(entry & X86_PRESENT);
	return level == 0 || (level < X86_LARGE_LEVELS && entry & X86_LARGE);
}

bool page_tables_find(const struct page_tables *tables, page_tables_read *read, void *context, uint64_t address,
	uint64_t *physical)
{
	unsigned entries = tables->page_bits - 3;
	uint64_t mask = tables->is_arm ? PHYSICAL_ARM : PHYSICAL, table = tables->root;

	if (!is_in_tables(tables, address) || tables->levels > LEVELS_MAX)
		return false;
	for (unsigned level = tables->levels; level-- > 0;) {
		unsigned shift = tables->page_bits + level * entries;
		unsigned width = tables->bits - shift < entries ? tables->bits - shift : entries;
		uint64_t within = (UINT64_C(1) << shift) - 1, entry;
		uint64_t index = address >> shift & ((UINT64_C(1) << width) - 1);
		bool none;

		if (!read(context, table + index * ENTRY, &entry, sizeof(entry)))
			return false;
		if (is_page(tables, level, entry, &none)) {
			*physical = (entry & mask & ~within) | (address & within);
			return !none;
		}
		if (none)
			return false;
		table = entry & mask & ~((UINT64_C(1) << tables->page_bits) - 1);
	}
	return false;
}
