/* SPDX-License-Identifier: MIT */
/* Where functions begin in small stripped programs. Their assembly has a label for each function, and no other. */
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "tests/unit/fakes/scratch.h"

#define TEXT "-Wl,-Ttext=0x401000 "

static struct symbol_table *read_elf(const char *path)
{
	struct symbol_table *table = symbol_table_new(NULL);
	int fd = open(path, O_RDONLY);
	struct build_id id;

	assert_true(fd >= 0);
	assert_true(sym_elf_read(fd, path, table, &id, NULL, NULL));
	symbol_table_sort(table);
	sym_elf_add_bare(fd, path, true, table, NULL);
	symbol_table_sort(table);
	close(fd);
	return table;
}

/* Assembles it into the file "whole", and a stripped one, "bare". */
static void build(const char *source, const char *options)
{
	char *command = util_format("gcc -nostdlib -static -no-pie -Wl,--build-id=none %s -o whole code.s && "
		"strip -o bare whole", options);

	scratch_text("code.s", source);
	scratch_run(command);
	free(command);
}

/* The labels of the whole file are the functions of the bare one. */
static void check(const char *source, const char *options)
{
	struct symbol_table *whole, *bare;
	uint64_t base;

	build(source, options);
	whole = read_elf(scratch_path("whole"));
	bare = read_elf(scratch_path("bare"));
	base = symbol_table_get(whole, 0).address & ~UINT64_C(0xfff);
	base -= base == 0x401000 || base == 0x8049000 ? 0x1000 : 0;
	for (uint32_t i = 0; i < symbol_table_count(whole) || i < symbol_table_count(bare); i++) {
		const char *name = i < symbol_table_count(bare) ? symbol_table_get(bare, i).name : "none";
		struct symbol symbol = { .name = "nothing more" };
		char *wanted;

		if (i < symbol_table_count(whole))
			symbol = symbol_table_get(whole, i);
		wanted = util_format("bare+0x%" PRIx64, symbol.address - base);
		if (strcmp(wanted, name) != 0)
			fail_msg("%s: %s, not %s", symbol.name, name, wanted);
		free(wanted);
	}
	symbol_table_free(whole);
	symbol_table_free(bare);
}

/* What is called, and what follows code that does not go on, without a jump to it from nearby. */
static void test_flow_tells(void **state)
{
	static const char source[] =
		".globl _start\n_start: call called\n jmp _start\n"
		"called: test %edi, %edi\n je .Lout\n nop\n jmp .Lback\n"
		".Lout: ret\n .p2align 4\n"
		".Lback: mov $0xe8, %eax\n movl $5, -0x18(%esi)\n jmp .Lout\n"
		"not_called: mov %ebp, %edi\n ret\n"
		".p2align 4\nfirst_is_padding: nop\n mov %eax, %ebx\n ret\n"
		".p2align 4\nonly_jumped: inc %eax\n ret\n"
		"jumps_far: cmp $1, %eax\n je .Lnot\n jmp only_jumped\n"
		".Lnot: xor %eax, %eax\n ret\n";

	(void)state;
	check(source, TEXT);
	check(source, "-m32 -Wl,-Ttext=0x8049000");
}

/* The cases of a switch are no functions: by a table of addresses, of distances, and by one that is not found. */
static void test_tables_split_nothing(void **state)
{
	static const char source[] =
		".globl _start\n_start: call certain\n jmp *.Lwords(,%rax,8)\n"
		".La: mov $1, %eax\n ret\n .Lb: mov $2, %eax\n ret\n"
		"by_distances: lea .Ldistances(%rip), %rdx\n movslq (%rdx,%rax,4), %rax\n add %rdx, %rax\n jmp *%rax\n"
		".Lc: mov $3, %eax\n ret\n .Ld: mov $4, %eax\n ret\n"
		"blind: cmp $9, %eax\n ja .Lout\n jmp *%rcx\n"
		"mov $5, %eax\n jmp .Lout\n mov $6, %eax\n ret\n mov $7, %eax\n .Lout: ret\n"
		"certain: mov $8, %eax\n ret\n"
		"through_memory: jmp *8(%rdi)\n"
		"last: mov $9, %eax\n ret\n"
		".section .rodata\n.Lwords: .quad .La, .Lb\n.Ldistances: .long .Lc-.Ldistances, .Ld-.Ldistances\n";

	(void)state;
	check(source, TEXT);
}

/* A function that does not return may be the last thing that another one calls. */
static void test_endless_calls(void **state)
{
	static const char source[] =
		".globl _start\n_start: call one\n call two\n call three\n ret\n"
		"one: call fails\n two: call fails\n not_called: mov %eax, %ebx\n call fails\n"
		"three: ret\n fails: jmp fails\n";

	(void)state;
	check(source, TEXT);
}

/* Such code is not torn apart: what .eh_frame tells of a function counts more than the code. */
static void test_known_functions_stay(void **state)
{
	static const char source[] =
		".globl _start\n_start: .cfi_startproc\n call .Linside\n ret\n"
		".Linside: ret\n mov %eax, %ebx\n ret\n .cfi_endproc\n"
		"behind: mov %ebx, %eax\n ret\n";

	(void)state;
	check(source, TEXT);
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	uint32_t index = symbol_table_find(table, address);

	return index == SYMBOL_NONE ? "none" : symbol_table_get(table, index).name;
}

/* A copy of a file may have pages of zeros; and where no function begins for long, nothing is known. */
static void test_pages(void **state)
{
	static const char source[] =
		".globl _start\n_start: ret\n .p2align 12\n .zero 4096\n"
		"behind: mov %ebx, %eax\n ret\n"
		"next: mov %ebx, %eax\n .rept 70000\n inc %eax\n .endr\n ret\n";
	struct symbol_table *bare;

	(void)state;
	build(source, TEXT);
	bare = read_elf(scratch_path("bare"));
	assert_string_equal(name_at(bare, 0x401000), "bare+0x1000");
	assert_string_equal(name_at(bare, 0x402000), "bare+0x2000-0x3000");
	assert_string_equal(name_at(bare, 0x402fff), "bare+0x2000-0x3000");
	assert_string_equal(name_at(bare, 0x403003), "bare+0x3003-0x4000");
	assert_string_equal(name_at(bare, 0x405000), "bare+0x5000-0x6000");
	symbol_table_free(bare);
}

/* Few files have symbols for their stubs. */
static void test_stubs(void **state)
{
	static const char source[] =
		".globl _start\n_start: ret\n"
		".section .plt, \"ax\"\n jmp *8(%rip)\n .p2align 4\n jmp *8(%rip)\n";
	struct symbol_table *table = symbol_table_new(NULL);
	struct build_id id;
	int fd;

	(void)state;
	build(source, "");
	fd = open(scratch_path("bare"), O_RDONLY);
	sym_elf_add_stubs(fd, table, NULL);
	assert_int_equal(symbol_table_count(table), 0);
	close(fd);
	fd = open(scratch_path("whole"), O_RDONLY);
	assert_true(sym_elf_read(fd, "whole", table, &id, NULL, NULL));
	sym_elf_add_stubs(fd, table, NULL);
	symbol_table_sort(table);
	assert_int_equal(symbol_table_count(table), 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct symbol symbol = symbol_table_get(table, i);

		assert_string_equal(name_at(table, symbol.end - 1), symbol.name);
		assert_true(strcmp(symbol.name, symbol.end - symbol.address > 1 ? ".plt" : "_start") == 0);
	}
	close(fd);
	symbol_table_free(table);
}

/* Too little memory for the code: the pages are there, and nothing was refused that others would miss. */
static void test_little_memory(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct symbol_table *table = symbol_table_new(budget);
	uint64_t refused;
	int fd;

	(void)state;
	build(".globl _start\n_start: .cfi_startproc\n ret\n .cfi_endproc\n .zero 16 << 20\n", TEXT);
	fd = open(scratch_path("bare"), O_RDONLY);
	refused = budget_refused(budget);
	sym_elf_add_bare(fd, "bare", true, table, budget);
	symbol_table_sort(table);
	assert_int_equal(budget_refused(budget), refused);
	assert_string_equal(name_at(table, 0x401000), "bare+0x1000");
	assert_string_equal(name_at(table, 0x403000), "bare+0x3000-0x4000");
	close(fd);
	symbol_table_free(table);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow_tells),
		cmocka_unit_test(test_tables_split_nothing),
		cmocka_unit_test(test_endless_calls),
		cmocka_unit_test(test_known_functions_stay),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
