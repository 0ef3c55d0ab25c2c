/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "tests/unit/fakes/call_model.h"

enum { ROUNDS = 500 };

static void assert_same(const struct unwound_frames *found, const struct unwound_frames *expected)
{
	assert_int_equal(found->count, expected->count);
	for (uint32_t i = 0; i < found->count; i++)
		assert_int_equal(found->frames[i], expected->frames[i]);
	assert_int_equal(found->exact, expected->exact);
	assert_int_equal(found->cut, expected->cut);
}

static struct unwound walk(struct call_model *model)
{
	struct unwound result;

	call_model_sample(model);
	unwind(&model->registers, &model->code, &model->memory, &result);
	return result;
}

/* `leaf`: the last function has no frame yet. `interrupts`: some of the calls are interrupts. */
static void check_chain(struct call_model *model, uint32_t depth, bool leaf, bool interrupts)
{
	struct unwound found;

	for (uint32_t i = 0; i < depth; i++)
		if (interrupts && i % 4 == 3)
			call_model_interrupt(model);
		else
			call_model_call(model, true);
	if (leaf)
		call_model_call(model, false);
	found = walk(model);
	assert_same(&found.kernel, &model->expected);
	assert_int_equal(found.user.count, 0);
}

static void check_chains(enum arch_id arch, bool leaf, bool interrupts)
{
	static struct call_model model;

	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		call_model_begin(&model, arch, seed * 977);
		check_chain(&model, (uint32_t)(seed % 20), leaf, interrupts);
	}
}

static void an_orc_table_is_followed(void **state)
{
	static struct call_model model;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		call_model_begin_orc(&model, seed * 977);
		check_chain(&model, (uint32_t)(seed % 20), seed & 1, seed & 2);
	}
}

static void frame_pointers_are_followed(void **state)
{
	(void)state;
	for (unsigned arch = ARCH_OTHER + 1; arch < ARCHS; arch++)
		check_chains((enum arch_id)arch, false, false);
}

static void the_caller_of_a_function_without_a_frame_is_found(void **state)
{
	(void)state;
	for (unsigned arch = ARCH_OTHER + 1; arch < ARCHS; arch++)
		check_chains((enum arch_id)arch, true, false);
}

/* What is known of the code of the last function, which was interrupted behind its first instruction. */
static enum calls_frame last_frame;
static uint64_t last_caller;

static enum calls_frame frame_of(void *context, uint64_t pc)
{
	const struct call_model *model = context;

	assert_int_equal(pc, model->expected.frames[0]);
	return last_frame;
}

static bool is_called(void *context, uint64_t returns, uint64_t callee)
{
	const struct call_model *model = context;

	assert_int_equal(callee, model->expected.frames[0]);
	return returns == last_caller;
}

/*
 * Where the code of a function lays no frame, the frame pointer leads past its caller. That one is found by its call,
 * or by the link register; else the stack is cut.
 */
static void a_function_that_lays_no_frame(void **state)
{
	static struct call_model model;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		enum arch_id arch = ARCH_OTHER + 1 + seed % (ARCHS - ARCH_OTHER - 1);
		bool linked = arch_get(arch)->link != ARCH_NO_REGISTER;
		const struct unwound_frames *expected = &model.expected;
		struct registers registers;
		struct unwound found;

		call_model_begin(&model, arch, seed);
		for (uint64_t i = 0; i < 1 + seed % 9; i++)
			call_model_call(&model, true);
		call_model_call(&model, false);
		model.code.frame = frame_of;
		model.code.calls = is_called;
		model.registers.values[model.arch->pc] += model.arch->step * 4u;
		last_caller = expected->frames[0];
		last_frame = linked || seed % 2 ? CALLS_FRAME_NONE : CALLS_FRAME_LEFT;
		registers = model.registers;
		found = walk(&model);
		assert_same(&found.kernel, expected);

		last_frame = CALLS_FRAME_NONE;
		last_caller = 0;
		registers.known &= ~(linked ? UINT64_C(1) << model.arch->link : 0);
		unwind(&registers, &model.code, &model.memory, &found);
		assert_int_equal(found.kernel.count, 1);
		assert_true(found.kernel.cut);
	}
}

static void interrupted_code_is_found_where_linux_marks_it(void **state)
{
	(void)state;
	check_chains(ARCH_X86_64, false, true);
	check_chains(ARCH_X86_64, true, true);
	check_chains(ARCH_I386, false, true);
	check_chains(ARCH_I386, true, true);
	check_chains(ARCH_RISCV64, false, true);
	check_chains(ARCH_RISCV64, true, true);
}

static void a_function_that_stores_the_frame_pointer_alone_has_its_caller(void **state)
{
	static struct call_model model;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct unwound found;

		call_model_begin(&model, ARCH_RISCV64, seed);
		for (uint64_t i = 0; i < seed % 9; i++)
			call_model_call(&model, true);
		call_model_call_last(&model);
		if (seed % 2) {
			call_model_interrupt(&model);
			call_model_call(&model, true);
		}
		found = walk(&model);
		assert_same(&found.kernel, &model.expected);
	}
}

static void a_stack_whose_bytes_end_is_cut(void **state)
{
	static struct call_model model;
	struct unwound found;

	(void)state;
	for (unsigned arch = ARCH_OTHER + 1; arch < ARCHS; arch++) {
		call_model_begin(&model, (enum arch_id)arch, 5);
		for (int i = 0; i < 20; i++)
			call_model_call(&model, true);
		call_model_sample(&model);
		model.memory.pieces[0].size /= 2;
		unwind(&model.registers, &model.code, &model.memory, &found);
		assert_true(found.kernel.cut);
		assert_in_range(found.kernel.count, 2, model.expected.count - 1);
		for (uint32_t i = 0; i < found.kernel.count; i++)
			assert_int_equal(found.kernel.frames[i], model.expected.frames[i]);
	}
}

struct later_bytes {
	struct call_model *model;
	unsigned reads;
};

static bool read_later(void *context, uint64_t address, void *to, size_t size)
{
	struct later_bytes *later = context;
	uint64_t offset = address - later->model->stack;

	later->reads++;
	if (address < later->model->stack || offset > CALL_MODEL_STACK - size)
		return false;
	memcpy(to, later->model->bytes + offset, size);
	return true;
}

static void bytes_that_are_missing_come_from_the_source(void **state)
{
	static struct call_model model;
	struct later_bytes later = { .model = &model };
	struct memory_reader reader = { .read = read_later, .context = &later };
	struct unwound found;

	(void)state;
	call_model_begin(&model, ARCH_X86_64, 5);
	for (int i = 0; i < 20; i++)
		call_model_call(&model, true);
	call_model_sample(&model);
	model.memory.pieces[0].size /= 2;
	model.memory.elsewhere = &reader;
	unwind(&model.registers, &model.code, &model.memory, &found);
	assert_same(&found.kernel, &model.expected);
	assert_in_range(later.reads, 1, 40);
}

/* A frame that is its own caller: the walk ends after UNWIND_FRAMES frames. */
static void a_loop_of_frames_ends(void **state)
{
	static struct call_model model;
	struct unwound found;

	(void)state;
	for (unsigned arch = ARCH_OTHER + 1; arch < ARCHS; arch++) {
		uint64_t fp, base;

		call_model_begin(&model, (enum arch_id)arch, 9);
		call_model_call(&model, true);
		call_model_call(&model, true);
		fp = model.registers.values[model.arch->fp];
		base = fp + (uint64_t)(int64_t)model.arch->saved_fp - model.stack;
		memcpy(model.bytes + base, &fp, model.arch->word);
		found = walk(&model);
		assert_int_equal(found.kernel.count, UNWIND_FRAMES);
		assert_true(found.kernel.cut);
	}
}

static void signed_addresses_of_aarch64_are_read(void **state)
{
	const struct arch *arch = arch_get(ARCH_AARCH64);

	(void)state;
	assert_int_equal(arch_code_address(arch, 0x00a3ffff81001234), 0xffffffff81001234);
	assert_int_equal(arch_code_address(arch, 0x1f2000aabbccdd00), 0x000000aabbccdd00);
	assert_int_equal(arch_code_address(arch_get(ARCH_X86_64), 0x00a3ffff81001234), 0x00a3ffff81001234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_pointers_are_followed),
		cmocka_unit_test(the_caller_of_a_function_without_a_frame_is_found),
		cmocka_unit_test(a_function_that_lays_no_frame),
		cmocka_unit_test(interrupted_code_is_found_where_linux_marks_it),
		cmocka_unit_test(a_function_that_stores_the_frame_pointer_alone_has_its_caller),
		cmocka_unit_test(an_orc_table_is_followed),
		cmocka_unit_test(a_stack_whose_bytes_end_is_cut),
		cmocka_unit_test(bytes_that_are_missing_come_from_the_source),
		cmocka_unit_test(a_loop_of_frames_ends),
		cmocka_unit_test(signed_addresses_of_aarch64_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
