/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/call_model.h"

struct fixture {
	struct budget *budget;
	struct symbols *symbols;
	struct kernel_code *code;
	struct call_model model;
};

/* A kernel whose guest tells the names of the model's functions. */
static void set_up(struct fixture *fixture, enum arch_id arch)
{
	fixture->budget = budget_new(64 << 20);
	fixture->symbols = symbols_new(fixture->budget);
	symbols_set_board(fixture->symbols, arch);
	fixture->code = kernel_code_new(fixture->symbols);
	call_model_begin(&fixture->model, arch, 7);
	for (uint64_t i = 0; i < CALL_MODEL_FUNCTIONS; i++) {
		char name[16];
		int size = snprintf(name, sizeof(name), "function_%u", (unsigned)i);

		symbols_tell(fixture->symbols, fixture->model.text + i * CALL_MODEL_FUNCTION_SIZE,
			CALL_MODEL_FUNCTION_SIZE, (struct text) { .bytes = name, .size = (size_t)size });
	}
}

static void tear_down(struct fixture *fixture)
{
	kernel_code_free(fixture->code);
	symbols_free(fixture->symbols);
	budget_release(fixture->budget);
}

/* As the source would send what the model's CPU holds. */
static struct raw_sample raw_of(struct call_model *model, enum mode mode)
{
	const struct stack_piece *stack = &model->memory.pieces[0];

	return (struct raw_sample) {
		.weight = 3, .mode = mode, .arch = model->arch->id, .space = 0x5000,
		.valid = model->registers.known, .register_count = model->arch->registers,
		.registers = model->registers.values, .stack_address = stack->address,
		.stack = { .bytes = (const char *)stack->bytes, .size = stack->size },
	};
}

static void a_raw_sample_becomes_the_sample_that_a_hook_would_send(void **state)
{
	static struct fixture fixture;

	(void)state;
	for (unsigned arch = ARCH_OTHER + 1; arch < ARCHS; arch++) {
		struct raw_stack stack;
		struct raw_sample raw;

		set_up(&fixture, (enum arch_id)arch);
		for (int i = 0; i < 6; i++)
			call_model_call(&fixture.model, true);
		call_model_sample(&fixture.model);
		raw = raw_of(&fixture.model, MODES);
		raw_samples_read(&raw, fixture.code, &stack);
		assert_int_equal(stack.sample.mode, MODE_KERNEL);
		assert_int_equal(stack.sample.weight, 3);
		assert_int_equal(stack.sample.process, 5);
		assert_int_equal(stack.sample.kernel_count, fixture.model.expected.count);
		assert_memory_equal(stack.sample.kernel, fixture.model.expected.frames,
			fixture.model.expected.count * sizeof(uint64_t));
		assert_int_equal(stack.sample.exact, 1);
		assert_false(stack.sample.kernel_cut);
		assert_int_equal(stack.sample.user_count, 0);
		tear_down(&fixture);
	}
}

/* The bytes of the stack end in the middle of the frames; the rest comes as those of the stack that they lead to. */
static void frames_go_on_in_a_linked_stack(void **state)
{
	static struct fixture fixture;
	struct raw_stack stack;
	struct raw_sample raw;
	size_t whole, half;

	(void)state;
	set_up(&fixture, ARCH_X86_64);
	for (int i = 0; i < 12; i++)
		call_model_call(&fixture.model, true);
	call_model_sample(&fixture.model);
	raw = raw_of(&fixture.model, MODE_KERNEL);
	whole = raw.stack.size;
	half = whole / 16 * 8;
	raw.stack.size = half;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_true(stack.sample.kernel_cut);
	raw = raw_of(&fixture.model, MODE_KERNEL);
	raw.stack.size = half;
	raw.linked = (struct text) { .bytes = raw.stack.bytes + half, .size = whole - half };
	raw.linked_address = raw.stack_address + half;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_false(stack.sample.kernel_cut);
	assert_int_equal(stack.sample.kernel_count, fixture.model.expected.count);
	tear_down(&fixture);
}

static void a_program_has_frames_of_its_own_alone(void **state)
{
	static struct fixture fixture;
	struct raw_stack stack;
	struct raw_sample raw;

	(void)state;
	set_up(&fixture, ARCH_X86_64);
	call_model_call(&fixture.model, true);
	call_model_sample(&fixture.model);
	raw = raw_of(&fixture.model, MODE_USER);
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.kernel_count, 0);
	assert_int_equal(stack.sample.user_count, 2);
	assert_true(stack.sample.user_exact);
	tear_down(&fixture);
}

/* Firmware, a boot loader: nothing of its stack is known, and no part of it is a program's. */
static void what_runs_before_the_kernel_has_one_frame(void **state)
{
	static struct fixture fixture;
	const enum mode modes[] = { MODE_KERNEL, MODE_IDLE };
	uint64_t values[ARCH_REGISTERS] = { 0 };

	(void)state;
	set_up(&fixture, ARCH_X86_64);
	values[fixture.model.arch->pc] = 0xf1234;
	values[fixture.model.arch->fp] = values[fixture.model.arch->sp] = fixture.model.memory.pieces[0].address;
	for (int i = 0; i < 2; i++) {
		struct raw_sample raw = raw_of(&fixture.model, modes[i]);
		struct raw_stack stack;

		raw.registers = values;
		raw_samples_read(&raw, fixture.code, &stack);
		assert_int_equal(stack.sample.kernel_count, 1);
		assert_int_equal(sample_frame(stack.sample.kernel, 0), 0xf1234);
		assert_int_equal(stack.sample.exact, 1);
		assert_int_equal(stack.sample.user_count, 0);
		assert_int_equal(stack.sample.mode, modes[i]);
	}
	assert_string_equal(symbols_get(fixture.symbols,
		symbols_function(fixture.symbols, EVENT_KERNEL, 0xf1234))->name, "[BIOS]");
	tear_down(&fixture);
}

static void a_sample_without_a_pc_has_no_frames(void **state)
{
	static struct fixture fixture;
	struct raw_stack stack;
	struct raw_sample raw;

	(void)state;
	set_up(&fixture, ARCH_AARCH64);
	call_model_sample(&fixture.model);
	raw = raw_of(&fixture.model, MODE_KERNEL);
	raw.valid = 0;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.kernel_count + stack.sample.user_count, 0);
	assert_true(stack.sample.kernel_cut);
	raw.register_count = 0;
	raw.valid = UINT64_MAX;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.kernel_count + stack.sample.user_count, 0);
	tear_down(&fixture);
}

/* Its name says that it is known. Nobody's is the idle thread, whose memory is whatever was used last. */
static void a_raw_sample_may_tell_its_thread(void **state)
{
	struct fixture fixture;
	struct raw_stack stack;
	struct raw_sample raw;

	(void)state;
	set_up(&fixture, ARCH_X86_64);
	raw = raw_of(&fixture.model, MODE_KERNEL);
	raw.process = 40;
	raw.thread = 41;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.process, 5);
	assert_int_equal(stack.sample.thread, EVENT_NONE);
	raw.name = (struct text) { .bytes = "worker", .size = 6 };
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.process, 40);
	assert_int_equal(stack.sample.thread, 41);
	raw.process = raw.thread = 0;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.process, EVENT_KERNEL);
	assert_int_equal(stack.sample.thread, 0);
	raw.mode = MODE_IDLE;
	raw_samples_read(&raw, fixture.code, &stack);
	assert_int_equal(stack.sample.thread, EVENT_NONE);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_raw_sample_becomes_the_sample_that_a_hook_would_send),
		cmocka_unit_test(frames_go_on_in_a_linked_stack),
		cmocka_unit_test(a_program_has_frames_of_its_own_alone),
		cmocka_unit_test(what_runs_before_the_kernel_has_one_frame),
		cmocka_unit_test(a_sample_without_a_pc_has_no_frames),
		cmocka_unit_test(a_raw_sample_may_tell_its_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
