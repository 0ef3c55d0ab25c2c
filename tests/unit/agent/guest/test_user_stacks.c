/* SPDX-License-Identifier: MIT */
/*
 * The stack of a program whose file is known, from raw registers and bytes. The program is this very test: its own
 * functions have to be found, in order, without a frame pointer.
 */
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/unwind/unwind.h"
#include "tests/unit/fakes/settle.h"

enum { PROCESS = 40, REGISTERS = 17, FP = 6, SP = 7, PC = 16, STACK = 64 << 10 };

/* A kernel that keeps Linux's struct pt_regs at the end of its stack. The frame pointer leads there. */
#define KERNEL_PC UINT64_C(0xffffffff81001000)
#define KERNEL_STACK UINT64_C(0xffffc90000013f00)
enum { PT_REGS = 21, SAVED_FP = 4, SAVED_PC = 16, SAVED_SP = 19 };	/* words, and which of them */

/* A function of its own, which needs no frame pointer: the sanitizer would make it need one. */
#define BARE __attribute__((noinline, no_sanitize("address"), \
	optimize("omit-frame-pointer", "no-optimize-sibling-calls")))

struct place {				/* of the program's code */
	uint64_t start, end, offset;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			*place = (struct place) {
				.start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				.end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz,
				.offset = info->dlpi_phdr[i].p_offset,
			};
	return 1;			/* the first one is the program */
}

struct fixture {
	struct symbols *symbols;
	struct kernel_code *code;
	struct raw_stack stack;
	bool framed;			/* the frame pointer is told, too */
	bool entered;			/* the kernel was entered, and works for the program */
	bool elsewhere;			/* then: the bytes of the program's stack are of another place */
	bool by_hook;			/* the hook has walked the kernel's stack, and tells the program's */
	size_t most;			/* bytes of the stack that are told; 0: enough */
};

static void read_registers(uint64_t values[REGISTERS], const ucontext_t *context)
{
	static const int order[REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10,
		REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	for (unsigned i = 0; i < REGISTERS; i++)
		values[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

/* The registers are kept on the kernel's stack; those of the CPU are the kernel's own. */
static void enter_kernel(const struct fixture *fixture, struct raw_sample *raw, uint64_t values[REGISTERS],
	uint64_t saved[PT_REGS])
{
	memset(saved, 0, PT_REGS * sizeof(saved[0]));
	saved[SAVED_FP] = values[FP];
	saved[SAVED_PC] = values[PC];
	saved[SAVED_SP] = values[SP];
	values[PC] = KERNEL_PC;
	values[SP] = KERNEL_STACK;
	values[FP] = KERNEL_STACK | 1;
	raw->mode = MODE_KERNEL;
	raw->user = raw->stack;
	raw->user_address = fixture->elsewhere ? raw->stack_address - STACK : raw->stack_address;
	raw->stack = (struct text) { .bytes = (const char *)saved, .size = PT_REGS * sizeof(saved[0]) };
	raw->stack_address = KERNEL_STACK;
	raw->valid = (UINT64_C(1) << REGISTERS) - 1;
}

/* What the hook tells of it: the CPU was in the kernel, for this program. */
static void tell_by_hook(struct raw_sample *raw)
{
	static const uint64_t kernel = KERNEL_PC;

	raw->of_program = true;
	raw->told = (struct sample) {
		.process = PROCESS, .thread = PROCESS + 1, .mode = MODE_KERNEL, .context = CONTEXT_TASK, .weight = 3,
		.exact = 1, .kernel_count = 1, .kernel = &kernel,
	};
	raw->name.size = 0;
}

/* The stack is read in place: it is this function's own, and stays valid until it returns. */
static BARE void take_sample(struct fixture *fixture)
{
	uint64_t values[REGISTERS], saved[PT_REGS];
	ucontext_t context;
	struct raw_sample raw = {
		.process = PROCESS, .thread = PROCESS, .name = { .bytes = "self", .size = 4 }, .weight = 1,
		.mode = MODE_USER, .arch = ARCH_X86_64, .register_count = REGISTERS, .registers = values,
	};

	getcontext(&context);
	read_registers(values, &context);
	raw.valid = ((UINT64_C(1) << REGISTERS) - 1) & ~(fixture->framed ? 0 : UINT64_C(1) << FP);
	raw.stack_address = values[SP];
	raw.stack = (struct text) {
		.bytes = (const char *)values[SP], .size = fixture->most ? fixture->most : STACK,
	};
	if (fixture->by_hook)
		tell_by_hook(&raw);
	if (fixture->entered)
		enter_kernel(fixture, &raw, values, saved);
	raw_samples_read(&raw, fixture->code, &fixture->stack);
}

static BARE int inner(struct fixture *fixture, int more)
{
	take_sample(fixture);
	return more + 1;
}

static BARE int middle(struct fixture *fixture, int more)
{
	volatile int rest[40] = { more };

	return inner(fixture, rest[0]) + rest[1];
}

static BARE int outer(struct fixture *fixture, int more)
{
	return middle(fixture, more + 1) - 1;
}

static const char *name_of(struct fixture *fixture, uint32_t frame)
{
	uint64_t pc = sample_frame(fixture->stack.sample.user, frame) - (frame > 0);

	return symbols_get(fixture->symbols, symbols_function(fixture->symbols,
		symbols_space(fixture->symbols, PROCESS), pc))->name;
}

/* Maps the program as the kernel tells it: by the offset in its file. */
static void map_self(struct fixture *fixture)
{
	char path[512];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *folders[2] = { NULL };
	char *folder, *slash;
	struct place place;

	assert_in_range(size, 1, sizeof(path) - 2);
	path[size] = '\0';
	folder = util_copy(path, (size_t)size);
	slash = strrchr(folder, '/');
	*slash = '\0';
	folders[0] = folder;
	dl_iterate_phdr(find_place, &place);
	symbols_map(fixture->symbols, &(struct object) {
		.process = PROCESS, .start = place.start, .end = place.end, .bias = place.start - place.offset,
		.by_offset = true, .name = { .bytes = path, .size = (size_t)size },
	}, folders);
	settle(fixture->symbols);
	free(folder);
}

static void set_up(struct fixture *fixture, struct budget *budget)
{
	*fixture = (struct fixture) { .symbols = symbols_new(budget) };
	fixture->code = kernel_code_new(fixture->symbols);
	symbols_set_board(fixture->symbols, ARCH_X86_64);
}

static void tear_down(struct fixture *fixture)
{
	kernel_code_free(fixture->code);
	symbols_free(fixture->symbols);
}

static void a_known_file_gives_the_whole_stack(void **state)
{
	static const char *const chain[] = { "take_sample", "inner", "middle", "outer" };
	struct fixture fixture;

	(void)state;
	for (int framed = 0; framed < 2; framed++) {
		set_up(&fixture, NULL);
		fixture.framed = framed;
		map_self(&fixture);
		outer(&fixture, 1);
		assert_in_range(fixture.stack.sample.user_count, 5, 64);
		for (uint32_t i = 0; i < 4; i++)
			assert_string_equal(name_of(&fixture, i), chain[i]);
		assert_string_equal(name_of(&fixture, 4), __func__);
		tear_down(&fixture);
	}
}

/* As with a program that the host does not have, whose kernel tells which file it is. */
static void map_copy(struct fixture *fixture)
{
	static const char *const none[] = { NULL };
	struct place place;
	struct object object;

	dl_iterate_phdr(find_place, &place);
	object = (struct object) {
		.process = PROCESS, .start = place.start, .end = place.end, .bias = place.start - place.offset,
		.by_offset = true, .contents = 0x1000, .name = { .bytes = "/bin/tool", .size = 9 },
	};
	assert_int_equal(symbols_file_state(fixture->symbols, &object), FILE_SETTLED);
	symbols_map(fixture->symbols, &object, none);
	assert_int_equal(symbols_file_state(fixture->symbols, &object), FILE_MISSING);
	symbols_give_file(fixture->symbols, &object, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	assert_int_equal(symbols_file_state(fixture->symbols, &object), FILE_SETTLED);
	settle(fixture->symbols);
	assert_int_equal(symbols_file_state(fixture->symbols, &object), FILE_SETTLED);

	/* Another file of that name is another one. */
	object.contents = 0x2000;
	object.process = PROCESS + 1;
	symbols_map(fixture->symbols, &object, none);
	assert_int_equal(symbols_file_state(fixture->symbols, &object), FILE_MISSING);
}

static void a_copy_of_the_file_does_so_too(void **state)
{
	static const char *const chain[] = { "take_sample", "inner", "middle", "outer" };
	struct symbols_mapping mapping;
	struct fixture fixture;
	uint64_t pc;

	(void)state;
	set_up(&fixture, NULL);
	map_copy(&fixture);
	outer(&fixture, 1);
	assert_in_range(fixture.stack.sample.user_count, 5, 64);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(name_of(&fixture, i), chain[i]);
	pc = sample_frame(fixture.stack.sample.user, 0);
	assert_true(symbols_mapping(fixture.symbols, symbols_space(fixture.symbols, PROCESS), pc, &mapping));
	assert_string_equal(mapping.name, "tool");
	assert_string_equal(mapping.path, "");
	assert_string_not_equal(symbols_get(fixture.symbols, symbols_function(fixture.symbols,
		symbols_space(fixture.symbols, PROCESS + 1), pc))->name, "take_sample");
	tear_down(&fixture);
}

/* The kernel's part of the stack stands above the whole of the program's. */
static void below_the_kernel_stands_the_program(void **state)
{
	static const char *const chain[] = { "take_sample", "inner", "middle", "outer" };
	struct fixture fixture;

	(void)state;
	set_up(&fixture, NULL);
	fixture.entered = true;
	map_self(&fixture);
	outer(&fixture, 1);
	assert_int_equal(fixture.stack.sample.kernel_count, 1);
	assert_false(fixture.stack.sample.kernel_cut);
	assert_in_range(fixture.stack.sample.user_count, 5, 64);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(name_of(&fixture, i), chain[i]);
	assert_string_equal(name_of(&fixture, 4), __func__);

	/* Bytes of another place, such as those that a stack had before, count for nothing. */
	fixture.elsewhere = true;
	outer(&fixture, 1);
	assert_int_equal(fixture.stack.sample.user_count, 1);
	assert_true(fixture.stack.sample.user_cut);
	tear_down(&fixture);
}

/* The hook in the guest has walked the kernel's stack alone. What it told of that stays as it was told. */
static void the_hook_s_stack_of_a_program_is_walked_too(void **state)
{
	static const char *const chain[] = { "take_sample", "inner", "middle", "outer" };
	struct fixture fixture;
	const struct sample *sample = &fixture.stack.sample;

	(void)state;
	set_up(&fixture, NULL);
	fixture.by_hook = fixture.framed = true;
	map_self(&fixture);
	outer(&fixture, 1);
	assert_in_range(sample->user_count, 5, 64);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(name_of(&fixture, i), chain[i]);
	assert_string_equal(name_of(&fixture, 4), __func__);
	assert_int_equal(sample->thread, PROCESS + 1);
	assert_int_equal(sample->mode, MODE_KERNEL);
	assert_int_equal(sample->context, CONTEXT_TASK);
	assert_int_equal(sample->weight, 3);
	assert_int_equal(sample->kernel_count, 1);
	assert_int_equal(sample_frame(sample->kernel, 0), KERNEL_PC);
	assert_false(sample->user_exact || sample->walked);

	/* Few bytes: what they have, marked as cut. No bytes, and not even whole words, neither. */
	for (fixture.most = 1; fixture.most < 200; fixture.most += 3) {
		outer(&fixture, 1);
		assert_in_range(sample->user_count, 1, 4);
		assert_true(sample->user_cut);
		assert_string_equal(name_of(&fixture, 0), chain[0]);
	}
	tear_down(&fixture);
}

static void without_a_file_and_a_frame_pointer_the_stack_is_cut(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture, NULL);
	outer(&fixture, 1);
	assert_int_equal(fixture.stack.sample.user_count, 1);
	assert_true(fixture.stack.sample.user_cut);
	assert_string_equal(name_of(&fixture, 0), "[unknown]");
	tear_down(&fixture);
}

static void what_is_of_no_file_is_named_by_its_region(void **state)
{
	struct fixture fixture;
	static const char *const none[] = { NULL };

	(void)state;
	set_up(&fixture, NULL);
	symbols_map(fixture.symbols, &(struct object) {
		.process = PROCESS, .start = 0x7fff0000, .end = 0x7fff2000, .bias = 0x7fff0000, .by_offset = true,
		.name = { .bytes = "[vdso]", .size = 6 },
	}, none);
	assert_string_equal(symbols_get(fixture.symbols, symbols_function(fixture.symbols,
		symbols_space(fixture.symbols, PROCESS), 0x7fff0123))->name, "[vdso]");
	tear_down(&fixture);
}

/* What the tables of a file take is charged, and given back. */
static void the_tables_of_a_file_are_paid_for(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t before = budget_left(budget);
	struct fixture fixture;

	(void)state;
	set_up(&fixture, budget);
	map_self(&fixture);
	assert_true(budget_left(budget) < before);
	tear_down(&fixture);
	assert_int_equal(budget_left(budget), before);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_file_gives_the_whole_stack),
		cmocka_unit_test(a_copy_of_the_file_does_so_too),
		cmocka_unit_test(below_the_kernel_stands_the_program),
		cmocka_unit_test(the_hook_s_stack_of_a_program_is_walked_too),
		cmocka_unit_test(without_a_file_and_a_frame_pointer_the_stack_is_cut),
		cmocka_unit_test(what_is_of_no_file_is_named_by_its_region),
		cmocka_unit_test(the_tables_of_a_file_are_paid_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
