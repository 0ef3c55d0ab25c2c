/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/vm/ram/page_tables.h"

enum { SIZE = 1 << 20, ENTRY = 8, PRESENT = 1, LARGE = 1 << 7, NO_EXECUTE_BITS = 12 };

/* The guest's physical memory, and how often a walk has read it. */
static uint8_t memory[SIZE];
static unsigned reads;

static bool read_memory(void *context, uint64_t physical, void *to, size_t size)
{
	(void)context;
	reads++;
	if (physical >= SIZE || SIZE - physical < size)
		return false;
	memcpy(to, memory + physical, size);
	return true;
}

static void put(uint64_t table, unsigned index, uint64_t entry)
{
	memcpy(memory + table + (uint64_t)index * ENTRY, &entry, sizeof(entry));
}

static uint64_t find(const struct page_tables *tables, uint64_t address)
{
	uint64_t physical = 0;

	reads = 0;
	return page_tables_find(tables, read_memory, NULL, address, &physical) ? physical : UINT64_MAX;
}

static int begin(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	return 0;
}

static void pages_of_each_size(void **state)
{
	struct page_tables tables = page_tables_x86_64(0x1000 | 0x18, false);
	const uint64_t no_execute = UINT64_C(1) << 63;

	(void)state;
	put(0x1000, 511, 0x2000 | PRESENT);
	put(0x2000, 510, 0x3000 | PRESENT);
	put(0x3000, 1, 0x4000 | PRESENT);
	put(0x4000, 2, 0x1234567000 | PRESENT | no_execute);
	put(0x3000, 3, 0x40200000 | PRESENT | LARGE | NO_EXECUTE_BITS);
	put(0x2000, 511, 0x80000000 | PRESENT | LARGE);
	assert_int_equal(find(&tables, 0xffffffff80202abc), 0x1234567abc);
	assert_int_equal(reads, 4);
	assert_int_equal(find(&tables, 0xffffffff80654321), 0x40254321);
	assert_int_equal(reads, 3);
	assert_int_equal(find(&tables, 0xffffffffc1234567), 0x81234567);
	assert_int_equal(reads, 2);
}

static void what_is_not_mapped(void **state)
{
	struct page_tables tables = page_tables_x86_64(0x1000, false), far = page_tables_x86_64(SIZE, false);

	(void)state;
	put(0x1000, 0, 0x2000 | PRESENT);
	put(0x1000, 1, 0x2000);			/* not present */
	put(0x1000, 2, (uint64_t)SIZE | PRESENT);	/* its table is not in memory */
	put(0x1000, 3, 0x2000 | PRESENT | LARGE);	/* so large is none: a table all the same */
	put(0x2000, 0, 0x40000000 | PRESENT | LARGE);
	assert_int_equal(find(&tables, 0x1000), 0x40001000);
	assert_int_equal(find(&tables, UINT64_C(1) << 39), UINT64_MAX);
	assert_int_equal(find(&tables, UINT64_C(2) << 39), UINT64_MAX);
	assert_int_equal(find(&tables, (UINT64_C(3) << 39) + 5), 0x40000005);
	assert_int_equal(find(&far, 0x1000), UINT64_MAX);
	/* No address of 48 bits. */
	assert_int_equal(find(&tables, (UINT64_C(1) << 48) + 0x1000), UINT64_MAX);
	assert_int_equal(find(&tables, UINT64_C(1) << 63), UINT64_MAX);
	assert_int_equal(reads, 0);
}

static void five_levels(void **state)
{
	struct page_tables tables = page_tables_x86_64(0x1000, true);

	(void)state;
	put(0x1000, 0x110, 0x2000 | PRESENT);
	put(0x2000, 7, 0x3000 | PRESENT);
	put(0x3000, 0, 0x4000 | PRESENT);
	put(0x4000, 0, 0x5000 | PRESENT);
	put(0x5000, 9, 0x77000 | PRESENT);
	assert_int_equal(find(&tables, UINT64_C(0xff10000000000000) | UINT64_C(7) << 39 | 9 << 12 | 0x123), 0x77123);
	assert_int_equal(reads, 5);
}

enum { VALID = 1, TABLE = 3 };		/* aarch64 */
enum { TCR_48_4K = 16 << 16, TCR_39_4K = 25 << 16 };
#define TCR_4K (UINT64_C(2) << 30)
#define TCR_64K (UINT64_C(3) << 30)

static void aarch64_has_the_kernels_half(void **state)
{
	struct page_tables tables;

	(void)state;
	assert_true(page_tables_aarch64(&tables, 0x1001 | UINT64_C(5) << 48, TCR_4K | TCR_48_4K));
	put(0x1000, 256, 0x2000 | TABLE);
	put(0x2000, 0, 0x3000 | TABLE);
	put(0x3000, 1, 0x40200000 | VALID);	/* a block of 2 MiB */
	put(0x3000, 2, 0x4000 | TABLE);
	put(0x4000, 3, UINT64_C(0x0060000047000703));
	put(0x4000, 4, 0x47000000 | VALID);	/* no page: it would be a block */
	assert_int_equal(find(&tables, 0xffff800000234567), 0x40234567);
	assert_int_equal(find(&tables, 0xffff800000403abc), 0x47000abc);
	assert_int_equal(find(&tables, 0xffff800000404abc), UINT64_MAX);
	assert_int_equal(find(&tables, 0x0000800000234567), UINT64_MAX);	/* a program's */
	assert_int_equal(find(&tables, 0xfffe800000234567), UINT64_MAX);
}

static void aarch64_has_other_pages(void **state)
{
	struct page_tables tables;

	(void)state;
	assert_true(page_tables_aarch64(&tables, 0x1000, TCR_4K | TCR_39_4K));
	assert_int_equal(tables.levels, 3);
	put(0x1000, 256, 0x40000000 | VALID);	/* a block of 1 GiB */
	assert_int_equal(find(&tables, 0xffffffc012345678), 0x52345678);
	assert_true(page_tables_aarch64(&tables, 0x10000, TCR_64K | TCR_48_4K));
	assert_int_equal(tables.levels, 3);
	put(0x10000, 32, 0x20000 | TABLE);
	put(0x20000, 0, 0x30000 | TABLE);
	put(0x30000, 1, 0x51230000 | TABLE);
	assert_int_equal(find(&tables, 0xffff80000001abcd), 0x5123abcd);
	assert_false(page_tables_aarch64(&tables, 0x1000, TCR_4K | 12 << 16));	/* 52 bits */
	assert_false(page_tables_aarch64(&tables, 0x1000, TCR_48_4K));		/* no size of pages */
	assert_false(page_tables_aarch64(&tables, 0x1000, TCR_4K | TCR_48_4K | 1 << 23));	/* switched off */
}

/* Any bytes as tables: a walk ends after an entry of each level. */
static void hostile_tables(void **state)
{
	struct page_tables tables[3] = { page_tables_x86_64(0x3000, false), page_tables_x86_64(0x3000, true) };
	uint64_t seed = 1;

	(void)state;
	assert_true(page_tables_aarch64(&tables[2], 0x3000, TCR_4K | TCR_48_4K));
	for (size_t i = 0; i < SIZE; i++)
		memory[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
	for (size_t i = 0; i < SIZE; i += ENTRY)	/* most of them lead on within memory */
		memset(memory + i + 3, 0, 4);
	for (int i = 0; i < 30000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		find(&tables[i % 3], seed >> 17 | UINT64_C(0xffff800000000000));
		assert_true(reads <= 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pages_of_each_size, begin), cmocka_unit_test_setup(what_is_not_mapped, begin),
		cmocka_unit_test_setup(five_levels, begin), cmocka_unit_test_setup(aarch64_has_the_kernels_half, begin),
		cmocka_unit_test_setup(aarch64_has_other_pages, begin), cmocka_unit_test_setup(hostile_tables, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
