/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/files/symbol_table.h"

static struct symbol_table *read_bytes(const char *text, size_t size)
{
	struct symbol_table *table = symbol_table_new(NULL);
	char *copy = malloc(size ? size : 1);	/* of the exact size, so that reading on is caught */
	char *error = NULL;

	assert_non_null(copy);
	memcpy(copy, text, size);
	if (!sym_text_read(copy, size, "list", table, &error))
		fail_msg("%s", error);
	free(copy);
	symbol_table_sort(table);
	return table;
}

static struct symbol_table *read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void check_name(const struct symbol_table *table, uint64_t address, const char *name)
{
	uint32_t index = symbol_table_find(table, address);

	if (!name) {
		assert_int_equal(index, SYMBOL_NONE);
		return;
	}
	assert_int_not_equal(index, SYMBOL_NONE);
	assert_string_equal(symbol_table_get(table, index).name, name);
}

static void check_refused(const char *text, size_t size, const char *why)
{
	struct symbol_table *table = symbol_table_new(NULL);
	char *error = NULL;

	assert_false(sym_text_read(text, size, "list", table, &error));
	assert_non_null(error);
	assert_non_null(strstr(error, why));
	assert_non_null(strstr(error, "; "));
	free(error);
	symbol_table_free(table);
}

static void test_system_map(void **state)
{
	struct symbol_table *table = read_text(
		"0000000000000000 D fixed_percpu_data\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000000 T startup_64\n"
		"ffffffff81000040 t verify_cpu\n"
		"ffffffff81000100 T secondary_startup\n"
		"ffffffff82000000 R __start_rodata\n"
		"                 U printf\n"
		"ffffffff81000180 W weak_one\n");

	(void)state;
	assert_int_equal(symbol_table_count(table), 5);
	check_name(table, 0xffffffff80ffffff, NULL);
	check_name(table, 0xffffffff81000000, "startup_64");
	check_name(table, 0xffffffff8100003f, "startup_64");
	check_name(table, 0xffffffff81000040, "verify_cpu");
	check_name(table, 0xffffffff8100017f, "secondary_startup");
	check_name(table, 0xffffffff81000180, "weak_one");
	check_name(table, 0xffffffff8fffffff, NULL);
	symbol_table_free(table);
}

static void test_sizes_and_demangled(void **state)
{
	struct symbol_table *table = read_text(
		"0000000000401000 0000000000000010 T vm::Cache::find(char const*, unsigned long)\n"
		"0000000000401020 0000000000000008 t operator new(unsigned long)\n"
		"0000000000401030 T add\n" /* "add" could be a number, T could not be a size */
		"0000000000401040 b counter\n");

	(void)state;
	check_name(table, 0x401000, "vm::Cache::find(char const*, unsigned long)");
	check_name(table, 0x40100f, "vm::Cache::find(char const*, unsigned long)");
	check_name(table, 0x401010, NULL);
	check_name(table, 0x401027, "operator new(unsigned long)");
	check_name(table, 0x401028, NULL);
	check_name(table, 0x401030, "add");
	symbol_table_free(table);
}

static void test_kallsyms_modules(void **state)
{
	struct symbol_table *table = read_text(
		"ffffffffb0e00000 T _stext\n"
		"ffffffffc0400000 t probe\t[virtio_net]\n"
		"ffffffffc0400040 t probe\t[e1000]\n"
		"ffffffffc0400080 t with_file\t/src/a.c:12\n");
	struct symbol symbol =
		symbol_table_get(table, symbol_table_find(table, 0xffffffffc0400010));

	(void)state;
	assert_string_equal(symbol.name, "probe");
	assert_string_equal(symbol.module, "virtio_net");
	symbol = symbol_table_get(table, symbol_table_find(table, 0xffffffffc0400050));
	assert_string_equal(symbol.module, "e1000");
	symbol = symbol_table_get(table, symbol_table_find(table, 0xffffffffc0400080));
	assert_string_equal(symbol.name, "with_file");
	assert_string_equal(symbol.module, "");
	symbol_table_free(table);
}

static void test_other_shapes(void **state)
{
	struct symbol_table *table =
		read_text("c0100000 T start32\r\n\r\nc0100010 T second\r\nC0100020 t last");

	(void)state;
	check_name(table, 0xc0100000, "start32");
	check_name(table, 0xc0100010, "second");
	check_name(table, 0xc0100020, "last");
	symbol_table_free(table);
}

static void test_labels_of_linker_scripts(void **state)
{
	static const char *const labels[] = {
		"etext", "stext", "_etext", "_stext", "__etext", "_text", "text", "btext", "edata", "_sdata",
		"__bss_start", "end", "_end", "__end", "_sinittext", "_einittext", "start", "_start",
		"__executable_start", "_begin",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		char *list = util_format("1000 T %s\n1000 t __a_static_one\n2000 T %s\n", labels[i], labels[i]);
		struct symbol_table *table = read_text(list);

		check_name(table, 0x1000, "__a_static_one");
		check_name(table, 0x2000, labels[i]);		/* alone, it may be a function */
		symbol_table_free(table);
		free(list);
	}
}

static void test_entry_beats_other_labels(void **state)
{
	struct symbol_table *table = read_text("1000 T text\n1000 T _start\n2000 T restart\n2000 T __extend\n");

	(void)state;
	check_name(table, 0x1000, "_start");
	check_name(table, 0x2000, "restart");
	symbol_table_free(table);
}

/* A size first; then as the kernel orders its table: weak, labels of linker scripts, underscores; then the first. */
static void test_aliases(void **state)
{
	struct symbol_table *table = read_text(
		"1000 t a_local\n1000 T __global\n1000 T global\n"
		"2000 T plain\n2000 0010 t __sized\n"
		"3000 T zebra\n3000 T ape\n3000 T mule\n"
		"4000 T __sched_text_start\n4000 T __switch_to\n"
		"5000 T kernel_text_begin\n5000 T _entry\n"
		"6000 W sys_absent\n6000 T __sys_ni\n"
		"7000 t .text\n7000 t _start\n"
		"8000 T _stext\n8000 T __start_init\n8000 W arch_setup\n"
		"9000 W weak_alias\n9000 T machine_start\n");
	uint64_t address;

	(void)state;
	check_name(table, 0x1000, "a_local");
	check_name(table, 0x2000, "__sized");
	check_name(table, 0x200f, "__sized");
	check_name(table, 0x2010, NULL);
	check_name(table, 0x3000, "zebra");
	check_name(table, 0x4000, "__switch_to");
	check_name(table, 0x5000, "_entry");
	check_name(table, 0x6000, "__sys_ni");
	check_name(table, 0x7000, "_start");
	check_name(table, 0x8000, "arch_setup");	/* the others are no function's names */
	check_name(table, 0x9000, "machine_start");	/* as the kernel and perf choose: it may be a function */
	assert_true(symbol_table_address(table, "a_local", &address));
	assert_int_equal(address, 0x1000);
	assert_true(symbol_table_address(table, "zebra", &address));
	assert_int_equal(address, 0x3000);
	assert_false(symbol_table_address(table, "horse", &address));
	symbol_table_free(table);
}

/* A function's copies and parts, by the name that a person knows. */
static void test_named(void **state)
{
	struct symbol_table *table = read_text("1000 T f\n1040 t f.isra.0\n1080 t f.cold\n10c0 T ff\n1100 t g\n"
		"1100 t h\n1140 t g\n1180 T end\n");
	struct symbol found[4];

	(void)state;
	assert_int_equal(symbol_table_named(table, "f", found, 4), 3);
	assert_true(found[0].address == 0x1000 && found[0].end == 0x1040 && strcmp(found[0].name, "f") == 0);
	assert_string_equal(found[1].name, "f.isra.0");
	assert_string_equal(found[2].name, "f.cold");
	assert_int_equal(symbol_table_named(table, "f", found, 1), 3);
	assert_int_equal(symbol_table_named(table, "h", found, 4), 1);	/* an alias: its end is that of the other */
	assert_true(found[0].address == 0x1100 && found[0].end == 0x1140);
	assert_int_equal(symbol_table_named(table, "g", found, 4), 2);
	assert_int_equal(symbol_table_named(table, "f.isra", found, 4), 1);
	assert_int_equal(symbol_table_named(table, "e", found, 4), 0);
	symbol_table_free(table);
}

/* A label inside a sized function ends with it. A function goes on behind one that it encloses. */
static void test_nested(void **state)
{
	struct symbol_table *table = read_text(
		"1000 0100 T outer\n1040 0010 t inner\n1080 t label\n"
		"1200 0100 T next\n1280 0100 T overlapping\n");

	(void)state;
	check_name(table, 0x103f, "outer");
	check_name(table, 0x1040, "inner");
	check_name(table, 0x1050, "outer");
	check_name(table, 0x1080, "label");
	check_name(table, 0x10ff, "label");
	check_name(table, 0x1100, NULL);
	check_name(table, 0x127f, "next");
	check_name(table, 0x1280, "overlapping");
	check_name(table, 0x137f, "overlapping");
	check_name(table, 0x1380, NULL);
	symbol_table_free(table);
}

static void test_no_functions_among_them(void **state)
{
	struct symbol_table *table = read_text("1000 t $x\n1004 t $d.1\n"
		"1008 t $xrv64i2p1\n100c t .L12\n1010 T $dollar\n1020 T .dot\n");

	(void)state;
	assert_int_equal(symbol_table_count(table), 2);
	check_name(table, 0x1000, NULL);
	check_name(table, 0x1010, "$dollar");
	check_name(table, 0x1020, ".dot");
	symbol_table_free(table);
}

static void test_refused(void **state)
{
	static const char zeros[] = "0000000000000000 T a\n0000000000000000 t b\n";
	static const char data[] = "1000 D a\n1004 b c\n";
	static const char prose[] =
		"This is a letter.\nIt names no symbol at all.\n1000 T but_one\n";

	(void)state;
	check_refused("", 0, "it is empty");
	check_refused(prose, strlen(prose), "neither ELF nor a list");
	check_refused(data, strlen(data), "names no code");
	check_refused(zeros, strlen(zeros), "every address is 0");
	check_refused("\0\0\0\0\n\0\0\0", 8, "neither ELF nor a list");
}

/* What other tools say of symbols is no list, not one with other names. */
static void test_lists_of_other_tools(void **state)
{
	static const char *const lists[] = {
		"\na.elf:     file format elf64-x86-64\n\nSYMBOL TABLE:\n"
		"0000000000100001 l    d  .text\t0000000000000000 .text\n"
		"0000000000100001 l     F .text\t000000000000003e first\n"
		"000000000010003f g     F .text\t0000000000000009 second\n"
		"0000000000100050  w    F .text\t0000000000000009 weak\n"
		"0000000000100060 w     F .text\t0000000000000009 weak\n"
		"0000000000100070 w     F .text  0000000000000009 weak\n"
		"0000000000100048 g       .text\t0000000000000000 .hidden entry\n",
		"000000000010003f w     F .text\t0000000000000009 weak\n",
		"a.elf:     file format elf64-x86-64\n\n0000000000100001 <first>:\n  100001:\t55\tpush %rbp\n"
		"  c00001:\tc3\tret\n",
		"Symbol table '.symtab' contains 2 entries:\n"
		"   Num:    Value          Size Type    Bind   Vis      Ndx Name\n"
		"     1: 0000000000100001    62 FUNC    LOCAL  DEFAULT    2 first\n",
		"first t 0000000000100001 000000000000003e\nadd T 100048 c\nadd T 100058 c\n",
		"add T 0000000000100058 000000000000000c\n",
		"first               |0000000000100001|   t  |              FUNC|000000000000003e|     |.text\n",
		"first\nadd\nsecond\n", "---------------- T first\n",
		"0000000100003f50 (__TEXT,__text) external _main\n",
		"                0x0000000000100001                first\n"
		" .text          0x0000000000100001       0x53 a.o\n",
		"ffffffff81000000 ffffffff81000000        b     1         t\n", "7f0010 40 interpreted\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		check_refused(lists[i], strlen(lists[i]), "neither ELF nor a list of symbols: line ");
}

static void test_hostile_lines(void **state)
{
	static const char head[] = "1000 T ";
	static const char tail[] = "\n2000 T \xff\xfe\x1b[31m\n3000 T cut\0off\n"
		"ffffffffffffffff T top\n4000 ffffffffffffffff T endless\n"
		"11111111111111111111111 T too_many_digits\n";
	size_t size = sizeof(head) - 1 + (8 << 20) + sizeof(tail) - 1;
	char *text = malloc(size);
	struct symbol_table *table;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + size - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	table = read_bytes(text, size);
	assert_int_equal(strlen(symbol_table_get(table, symbol_table_find(table, 0x1000)).name),
		SYMBOL_NAME_MAX);
	check_name(table, 0x2000, "\xff\xfe\x1b[31m");
	check_name(table, 0x3000, "cut");
	check_name(table, 0xffffffffffff0000, "endless");
	symbol_table_free(table);
	free(text);
}

/* Wherever a list is cut or damaged, the reader does not read beyond it. */
static void test_cut_anywhere(void **state)
{
	static const char text[] =
		"ffffffff81000000 0000000000000010 T a b\t[m]\n         U z\n10 t \n 1\n";

	(void)state;
	for (size_t size = 0; size <= sizeof(text) - 1; size++) {
		struct symbol_table *table = symbol_table_new(NULL);
		char *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		memcpy(copy, text, size);
		sym_text_read(copy, size, "list", table, NULL);
		symbol_table_sort(table);
		symbol_table_find(table, 0xffffffff81000000);
		symbol_table_free(table);
		free(copy);
	}
}

static void test_limit(void **state)
{
	struct symbol_table *table = symbol_table_new(NULL);
	struct symbol_entry entry = { .name = "f", .name_size = 1, .limit = UINT64_MAX };

	(void)state;
	for (uint64_t i = 0; i < SYMBOL_TABLE_MAX; i++) {
		entry.address = i;
		entry.size = SYMBOL_TABLE_MAX - i + 1;	/* each nested in the one before */
		assert_true(symbol_table_add(table, &entry));
	}
	assert_false(symbol_table_add(table, &entry));
	symbol_table_sort(table);
	assert_int_equal(symbol_table_find(table, 1000), 1000);
	assert_int_equal(symbol_table_find(table, SYMBOL_TABLE_MAX + 1), SYMBOL_NONE);
	symbol_table_free(table);
}

/* Compares the sorted table with a walk over the unsorted entries. */
static void test_against_walk(void **state)
{
	enum { COUNT = 3000 };
	static uint64_t known[COUNT];
	char *text = util_alloc(COUNT * 32), *end = text;
	struct symbol_table *table;
	uint32_t seed = 12345;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		seed = seed * 1664525 + 1013904223;
		known[i] = 0x100000 + seed % 0x40000 * 16;
		end += sprintf(end, "%lx T f%d\n", (unsigned long)known[i], i);
	}
	table = read_text(text);
	for (int i = 0; i < 20000; i++) {
		uint64_t address, best = 0;
		uint32_t index;

		seed = seed * 1664525 + 1013904223;
		address = 0x100000 + seed % 0x400000;
		for (int k = 0; k < COUNT; k++)
			if (known[k] <= address && known[k] > best)
				best = known[k];
		index = symbol_table_find(table, address);
		assert_int_equal(
			index == SYMBOL_NONE ? 0 : symbol_table_get(table, index).address, best);
	}
	symbol_table_free(table);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_map),
		cmocka_unit_test(test_sizes_and_demangled),
		cmocka_unit_test(test_kallsyms_modules),
		cmocka_unit_test(test_other_shapes),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_labels_of_linker_scripts),
		cmocka_unit_test(test_entry_beats_other_labels),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_no_functions_among_them),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lists_of_other_tools),
		cmocka_unit_test(test_hostile_lines),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_against_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
