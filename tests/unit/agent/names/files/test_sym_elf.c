/* SPDX-License-Identifier: MIT */
/* Compares the reader with nm on this very program, and checks small programs that are compiled here. */
#include <fcntl.h>
#include <unistd.h>

#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "tests/unit/fakes/scratch.h"

static const char kernel_source[] =
	"void _start(void) { for (;;) ; }\n"
	"static int data = 5;\n"
	"extern char etext[]; char *end_of_code = etext;\n"
	"int twice(int x) { return x + data; }\n"
	"extern int alias_of_twice(int) __attribute__((alias(\"twice\")));\n"
	"extern int __weak_twice(int) __attribute__((weak, alias(\"twice\")));\n"
	"__asm__(\".pushsection .text\\n.globl entry\\nentry: cld\\nnop\\ninner_label: nop\\nnop\\n"
	".skip 64\\n.popsection\\n\");\n"
	"__asm__(\".pushsection .data\\n.globl data_label\\ndata_label: "
	".quad 0\\n.popsection\\n\");\n";

static struct symbol_table *read_elf(const char *path, struct build_id *id)
{
	struct symbol_table *table = symbol_table_new(NULL);
	int fd = open(path, O_RDONLY);
	char *error = NULL;

	assert_true(fd >= 0);
	assert_true(sym_elf_is(fd));
	if (!sym_elf_read(fd, path, table, id, NULL, &error))
		fail_msg("%s", error);
	close(fd);
	symbol_table_sort(table);
	return table;
}

static const char *build(const char *name, const char *options)
{
	char *command =
		util_format("gcc -O1 -nostdlib -ffreestanding -fno-pic -static %s -o %s kernel.c",
			options, name);

	scratch_text("kernel.c", kernel_source);
	scratch_run(command);
	free(command);
	return scratch_path(name);
}

static uint64_t address_of(const struct symbol_table *table, const char *name)
{
	uint64_t address = 0;

	if (!symbol_table_address(table, name, &address))
		fail_msg("%s is not there", name);
	return address;
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	uint32_t index = symbol_table_find(table, address);

	return index == SYMBOL_NONE ? "none" : symbol_table_get(table, index).name;
}

static void test_kernel(void **state)
{
	struct build_id id;
	const char *path = build("kernel", "-Wl,-Ttext=0xffffffff81000000 -mcmodel=kernel -no-pie "
		"-Wl,--build-id=0x0123456789abcdef");
	struct symbol_table *table = read_elf(path, &id);
	uint64_t twice = address_of(table, "twice"), entry = address_of(table, "entry"), unused;

	(void)state;
	assert_true(entry >= 0xffffffff81000000);
	assert_string_not_equal(name_at(table, twice), "__weak_twice");
	assert_string_equal(name_at(table, entry + 1), "entry");
	assert_string_equal(name_at(table, entry + 2), "inner_label");
	assert_false(symbol_table_address(table, "data", &unused));
	assert_false(symbol_table_address(table, "data_label", &unused));
	assert_int_equal(id.size, 8);
	assert_memory_equal(id.bytes, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	symbol_table_free(table);
}

/*
 * What a linker script or a constant adds takes nothing from a function, whatever its binding: neither its name nor
 * its bytes. A function without a size is still better than a label at the end of the section before.
 */
static void test_labels_of_linker_scripts(void **state)
{
	struct symbol_table *table;
	struct build_id id;

	(void)state;
	scratch_text("labels.s", ".text\n.type first, @function\nfirst: .skip 62, 0x90\n.size first, 62\n"
		".globl second\n.type second, @function\nsecond: .skip 28, 0x90\n.size second, 28\n"
		".weak __sized\n.type __sized, @function\n__sized: .skip 6, 0x90\n.size __sized, . - __sized\n"
		".globl typed\n.type typed, @function\ntyped: .skip 8, 0x90\n"
		".section .entry, \"ax\"\n.globl _entry\n_entry: .skip 16, 0x90\n");
	scratch_text("labels.ld", "SECTIONS { . = 0x100000; .boot : { BYTE(0x90) } boot_end = .; "
		".text : { text_begin = .; *(.text) } odd_size = 0x100010; plain = 0x100001 + 90; "
		"text_limit = .; another = 0x100001 + 96; "
		".entry : { entry_begin = .; *(.entry) } }\n");
	scratch_run("gcc -c labels.s && ld -e 0 -T labels.ld -o labels labels.o");
	table = read_elf(scratch_path("labels"), &id);
	assert_string_equal(name_at(table, 0x100001), "first");
	assert_string_equal(name_at(table, 0x100010), "first");
	assert_string_equal(name_at(table, 0x100001 + 61), "first");
	assert_string_equal(name_at(table, 0x100001 + 62), "second");
	assert_string_equal(name_at(table, 0x100001 + 90), "__sized");
	assert_string_equal(name_at(table, 0x100001 + 96), "typed");
	assert_string_equal(name_at(table, address_of(table, "_entry")), "_entry");
	symbol_table_free(table);
}

/* Neither a label at the end of a section nor a symbol without a size covers anything behind the section. */
static void test_end_of_section(void **state)
{
	struct build_id id;
	struct symbol_table *table = read_elf(build("ends", "-no-pie -Wl,--build-id=none"), &id);
	uint64_t end = address_of(table, "etext");

	(void)state;
	assert_string_not_equal(name_at(table, end - 1), "none");
	assert_string_equal(name_at(table, end), "none");
	assert_string_equal(name_at(table, end + 4096), "none");
	assert_false(build_id_known(&id));
	symbol_table_free(table);
}

static void test_32_bit(void **state)
{
	struct build_id id;
	struct symbol_table *table =
		read_elf(build("small", "-m32 -no-pie -Wl,--build-id=sha1"), &id);

	(void)state;
	assert_string_equal(name_at(table, address_of(table, "_start")), "_start");
	assert_int_equal(id.size, 20);
	symbol_table_free(table);
}

static void test_stripped(void **state)
{
	struct build_id id;
	struct symbol_table *table;

	(void)state;
	build("stripped", "-no-pie");
	scratch_run("strip stripped");
	table = read_elf(scratch_path("stripped"), &id);
	assert_int_equal(symbol_table_count(table), 0);
	assert_int_equal(symbol_table_find(table, 0x401000), SYMBOL_NONE);
	symbol_table_free(table);
}

static void add_bare(struct symbol_table *table, const char *path, bool between)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	sym_elf_add_bare(fd, path, between, table, NULL);
	close(fd);
	symbol_table_sort(table);
}

/* The code between functions that are known has functions, too (test_bare_code.c). */
static void check_between(const struct symbol_table *whole, uint64_t base)
{
	uint64_t entry = address_of(whole, "entry"), twice = address_of(whole, "twice");
	struct build_id id;
	struct symbol_table *bare = read_elf(scratch_path("bare"), &id);
	unsigned long begin;

	add_bare(bare, scratch_path("bare"), true);
	assert_int_equal(sscanf(name_at(bare, entry), "bare+%lx", &begin), 1);
	assert_int_equal(begin, entry - base);
	assert_string_equal(name_at(bare, entry + 60), name_at(bare, entry));
	assert_string_not_equal(name_at(bare, twice), name_at(bare, entry));
	symbol_table_free(bare);
}

/* What the compiler left for unwinding tells where a stripped program's functions are, each by its own range. */
static void check_frames(const char *options, uint64_t base)
{
	char *line = util_format("-fasynchronous-unwind-tables -Wl,--build-id=none %s", options);
	struct build_id id;
	struct symbol_table *whole = read_elf(build("bare", line), &id), *bare;
	uint64_t twice = address_of(whole, "twice");
	char *name = util_format("bare+0x%lx", (unsigned long)(twice - base));

	add_bare(whole, scratch_path("bare"), true);
	assert_string_equal(name_at(whole, twice) + strlen(name_at(whole, twice)) - 5, "twice");
	scratch_run("strip bare");
	bare = read_elf(scratch_path("bare"), &id);
	assert_int_equal(symbol_table_count(bare), 0);
	add_bare(bare, scratch_path("bare"), false);
	assert_int_equal(symbol_table_count(bare), 2);
	assert_string_equal(name_at(bare, twice), name);
	assert_string_equal(name_at(bare, twice + 1), name);
	assert_string_not_equal(name_at(bare, address_of(whole, "_start")), name);
	assert_string_equal(name_at(bare, address_of(whole, "entry")), "none");
	symbol_table_free(bare);
	free(name);
	free(line);
	check_between(whole, base);
	symbol_table_free(whole);
}

static void test_frames_of_a_stripped_program(void **state)
{
	(void)state;
	check_frames("-no-pie -Wl,-Ttext=0x401000", 0x400000);
	check_frames("-m32 -no-pie -Wl,-Ttext=0x8049000", 0x8048000);
	check_frames("-no-pie -fno-dwarf2-cfi-asm -Wl,-Ttext=0x401000", 0x400000);
}

static void test_dynamic_symbols(void **state)
{
	struct build_id id;
	struct symbol_table *table;

	(void)state;
	scratch_text("kernel.c",
		"int exported(int x) { return x; }\nstatic int y; int other(void) { return y; }\n");
	scratch_run("gcc -shared -fPIC -nostdlib -o lib.so kernel.c && strip lib.so");
	table = read_elf(scratch_path("lib.so"), &id);
	assert_string_equal(name_at(table, address_of(table, "exported")), "exported");
	symbol_table_free(table);
}

/*
 * Each symbol of `some` is in `all`, at its address. The caller leaves weak symbols that are no functions
 * out of `some`, for nm prints W for weak data, too.
 */
static void check_contained(const struct symbol_table *some, const struct symbol_table *all)
{
	assert_true(symbol_table_count(some) > 50);
	for (uint32_t i = 0; i < symbol_table_count(some); i++) {
		struct symbol symbol = symbol_table_get(some, i), answer;
		uint32_t index = symbol_table_find(all, symbol.address);

		if (index == SYMBOL_NONE)
			fail_msg("%s is not there", symbol.name);
		answer = symbol_table_get(all, index);
		assert_int_equal(answer.address, symbol.address);
		assert_true(address_of(all, symbol.name) <= symbol.address);
	}
}

static struct symbol_table *read_nm(const char *filter)
{
	struct symbol_table *table = symbol_table_new(NULL);
	char *command =
		util_format("nm -S /proc/%d/exe | grep '%s' > self.nm", (int)getpid(), filter);
	char *text, *error = NULL;
	size_t size;

	scratch_run(command);
	text = scratch_read(scratch_path("self.nm"), &size);
	if (!sym_text_read(text, size, "self.nm", table, &error))
		fail_msg("%s", error);
	symbol_table_sort(table);
	free(command);
	free(text);
	return table;
}

static void test_against_nm(void **state)
{
	struct build_id id;
	struct symbol_table *table = read_elf("/proc/self/exe", &id);
	struct symbol_table *any = read_nm(" [TtWwi] "), *code = read_nm(" [Tt] ");

	(void)state;
	check_contained(table, any);
	check_contained(code, table);
	for (uint32_t i = 0; i < symbol_table_count(code); i++) {
		struct symbol symbol = symbol_table_get(code, i);

		assert_string_equal(name_at(table, symbol.address), name_at(any, symbol.address));
	}
	symbol_table_free(code);
	symbol_table_free(any);
	symbol_table_free(table);
}

static void check_refused(const char *path, const char *why)
{
	struct symbol_table *table = symbol_table_new(NULL);
	struct build_id id;
	int fd = open(path, O_RDONLY);
	char *error = NULL;

	assert_true(fd >= 0);
	assert_false(sym_elf_read(fd, path, table, &id, NULL, &error));
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, why));
	free(error);
	close(fd);
	symbol_table_free(table);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused(scratch_text("note.txt", "not a program"), "not an ELF file");
	check_refused(scratch_text("empty", ""), "not an ELF file");
	check_refused(scratch_write("magic", "\177ELF", 4), "not an ELF file");
	scratch_text("kernel.c", kernel_source);
	scratch_run("gcc -c -o kernel.o kernel.c");
	check_refused(scratch_path("kernel.o"), "neither an executable nor a shared object");
}

/* Whatever the bytes are, there is an answer or an error, under the sanitizers. */
static void try_bytes(const char *bytes, size_t size)
{
	const char *path = scratch_write("damaged", bytes, size);
	struct symbol_table *table = symbol_table_new(NULL);
	struct build_id id;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	if (sym_elf_read(fd, path, table, &id, NULL, NULL)) {
		symbol_table_sort(table);
		symbol_table_find(table, 0x401000);
	}
	symbol_table_free(table);
	close(fd);
}

static void test_cut(void **state)
{
	size_t size;
	char *bytes = scratch_read(build("whole", "-no-pie"), &size);

	(void)state;
	for (size_t cut = 0; cut < size; cut += 97)
		try_bytes(bytes, cut);
	free(bytes);
}

static void test_damaged(void **state)
{
	size_t size;
	char *bytes = scratch_read(build("whole", "-no-pie -Wl,--build-id=sha1"), &size);
	char *copy = malloc(size);
	uint32_t seed = 7;

	(void)state;
	assert_non_null(copy);
	for (int round = 0; round < 400; round++) {
		memcpy(copy, bytes, size);
		for (int i = 0; i < 40; i++) {
			size_t at;

			seed = seed * 1664525 + 1013904223;
			/* the headers, at both ends, are hit more often than the rest */
			at = size - 1 - seed % 1024;
			if (i % 4 < 2)
				at = i % 4 ? 16 + seed % 400 : seed % size;
			copy[at] = seed & 0x80 ? (char)0xff : (char)(seed >> 24);
		}
		try_bytes(copy, size);
	}
	free(copy);
	free(bytes);
}

static void test_build_ids(void **state)
{
	struct build_id a, b;
	char large[65] = { 1 };

	(void)state;
	assert_true(build_id_set(&a, "12345678", 8));
	assert_true(build_id_set(&b, "12345678", 8));
	assert_false(build_id_contradicts(&a, &b));
	assert_true(build_id_set(&b, "12345679", 8));
	assert_true(build_id_contradicts(&a, &b));
	assert_false(build_id_set(&b, large, sizeof(large)));
	assert_false(build_id_contradicts(&a, &b));
}

/* Each section's symbols and code are found, however many sections there are. */
static void test_many_sections(void **state)
{
	FILE *out = fopen(scratch_path("many.s"), "w");
	struct symbol_table *table;
	struct sym_elf_code *code;
	struct build_id id;
	char byte;
	int fd;

	(void)state;
	for (int i = 0; i < 2000; i++)
		fprintf(out, ".section code.%d,\"ax\"\n.globl f%d\n.type f%d, @function\nf%d: nop\n",
			i, i, i, i);
	assert_int_equal(fclose(out), 0);
	scratch_run("gcc -nostdlib -static -Wl,-e,f0 -o many many.s");
	table = read_elf(scratch_path("many"), &id);
	assert_string_equal(name_at(table, address_of(table, "f0")), "f0");
	assert_string_equal(name_at(table, address_of(table, "f1999")), "f1999");
	fd = open(scratch_path("many"), O_RDONLY);
	code = sym_elf_code_read(fd, NULL);
	assert_non_null(code);
	assert_int_equal(sym_elf_code_place(code, address_of(table, "f1999")), ELF_PLACE_CODE);
	assert_int_equal(sym_elf_code_bytes(code, fd, address_of(table, "f1999"), &byte, 1), 1);
	assert_int_equal(byte, (char)0x90);
	assert_int_equal(sym_elf_code_place(code, 8), ELF_PLACE_OUTSIDE);
	sym_elf_code_free(code);
	close(fd);
	symbol_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_labels_of_linker_scripts),
		cmocka_unit_test(test_end_of_section),
		cmocka_unit_test(test_32_bit),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_frames_of_a_stripped_program),
		cmocka_unit_test(test_dynamic_symbols),
		cmocka_unit_test(test_against_nm),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_many_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
