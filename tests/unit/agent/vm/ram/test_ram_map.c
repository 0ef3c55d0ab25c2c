/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/vm/ram/ram_file.h"

static struct ram_map map;

/* In pieces of every size, it comes to the same. */
static void read_map(const char *text, const char *arch, size_t piece)
{
	size_t size = strlen(text);

	map = (struct ram_map) { .count = 0 };
	for (size_t i = 0; i < size; i += piece)
		ram_map_take(&map, text + i, size - i < piece ? size - i : piece);
	ram_map_finish(&map, arch);
}

static void the_machines_own_ram_counts(void **state)
{
	static const char pc[] =
		"FlatView #0\r\n AS \"I/O\", root: io\r\n Root memory region: io\r\n"
		"  0000000000000000-ffffffffffffffff (prio 0, ram): trap\r\n\r\n"
		"FlatView #1\r\n AS \"memory\", root: system\r\n AS \"cpu-memory-0\", root: system\r\n"
		" Root memory region: system\r\n"
		"  0000000000000000-000000000009ffff (prio 0, ram): pc.ram\r\n"
		"  00000000000a0000-00000000000affff (prio 1, ram): vga.vram\r\n"
		"  00000000000e0000-00000000000fffff (prio 0, rom): pc.ram @00000000000e0000\r\n"
		"  0000000000100000-00000000bfffffff (prio 0, ram): pc.ram @0000000000100000\r\n"
		"  00000000fd000000-00000000fdffffff (prio 1, ram): vga.vram\r\n"
		"  00000000fe000000-00000000fe0fffff (prio 0, ram): card.ram\r\n"
		"  00000000fec00000-00000000fec00fff (prio 0, i/o): ioapic\r\n"
		"  0000000100000000-000000013fffffff (prio 0, ram): pc.ram @00000000c0000000\r\n\r\n"
		"FlatView #2\r\n AS \"card\", root: bus\r\n"
		"  0000000000000000-ffffffffffffffff (prio 0, ram): trap\r\n";

	(void)state;
	for (size_t piece = 1; piece < 300; piece += 7) {
		read_map(pc, "x86_64", piece);
		assert_int_equal(map.count, 2);
		assert_true(ram_map_has(&map, 0x100000, 1));
		assert_true(ram_map_has(&map, 0xbffff000, 0x1000));
		assert_false(ram_map_has(&map, 0xbffff000, 0x1001));
		assert_true(ram_map_has(&map, 0x13fffffff, 1));
		assert_false(ram_map_has(&map, 0x140000000, 1));
		assert_false(ram_map_has(&map, 0x1000, 1));		/* what lies there changes */
		assert_false(ram_map_has(&map, 0xfd000000, 1));
		assert_false(ram_map_has(&map, 0xfe000000, 1));
		assert_false(ram_map_has(&map, 0x100000, UINT64_MAX));
		assert_false(ram_map_has(&map, UINT64_MAX, 2));
	}
}

static void the_ram_of_further_nodes_counts(void **state)
{
	static const char virt[] = "FlatView #0\n AS \"memory\", root: system\n"
		"  0000000008000000-0000000008000fff (prio 0, i/o): gic_dist\n"
		"  0000000040000000-000000007fffffff (prio 0, ram): node0\n"
		"  0000000080000000-000000008fffffff (prio 0, ram): node1\n"
		"  00000000a0000000-00000000a0000fff (prio 0, ram): apart\n";

	(void)state;
	read_map(virt, "aarch64", 100);
	assert_int_equal(map.count, 2);
	assert_true(ram_map_has(&map, 0x8fffffff, 1));
	assert_false(ram_map_has(&map, 0x08000000, 1));
	assert_false(ram_map_has(&map, 0xa0000000, 1));
}

static void what_makes_no_sense_is_skipped(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "unknown command\r\n", "AS \"memory\"\n 5-1 (prio 0, ram): a\n", "AS \"memory\"\n0-1 (prio",
		"AS \"memory\"\n 0-ffffffff (prio 0, i/o): a\n", " 0-ffffffff (prio 0, ram): a\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_map(texts[i], "riscv64", 8);
		assert_int_equal(map.count, 0);
		assert_false(ram_map_has(&map, 0x80000000, 1));
	}
	map = (struct ram_map) { .count = 0 };
	ram_map_take(&map, "AS \"memory\"\n", 12);
	for (int i = 0; i < 1000; i++)		/* more ranges than there is room for */
		ram_map_take(&map, " 1000-1fff (prio 0, ram): a\n", 28);
	for (int i = 0; i < 1000; i++)		/* a line that does not end */
		ram_map_take(&map, "0123456789abcdef", 16);
	ram_map_finish(&map, "riscv64");
	assert_int_equal(map.count, RAM_RANGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machines_own_ram_counts), cmocka_unit_test(the_ram_of_further_nodes_counts),
		cmocka_unit_test(what_makes_no_sense_is_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
