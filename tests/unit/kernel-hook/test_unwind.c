/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/arch.h"
#undef KTOP_LEAF_SAVES_FP
#define KTOP_LEAF_SAVES_FP 1		/* as on riscv64 */
#include "kernel-hook/ktop.h"
#include "kernel-hook/unwind.h"
#include "kernel-hook/unwind_user.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_port.h"

enum { WORDS = 256, ENTRY = 0x1800, USER_PC = 0x400123 };

/* A stack of frame records. The lowest one is the innermost. */
static uint64_t stack[WORDS];
static struct ktop_regs regs;
static struct ktop_current current;
static struct ktop_wire_sample sample;
static uint8_t frames[8 * KTOP_FRAMES_MAX + 8];

static uint64_t at(uint32_t word)
{
	return (uint64_t)(uintptr_t)stack + 8ull * word;
}

static void record(uint32_t word, uint64_t fp, uint64_t pc)
{
	stack[word] = fp;
	stack[word + 1] = pc;
}

static int set_up(void **state)
{
	(void)state;
	fake_port_reset();
	/* Text to 0x1800, an entry stub to 0x1900, text again. */
	fake_port.texts[0].high = ENTRY;
	fake_port.texts[1] = (struct fake_text) { ENTRY, ENTRY + 0x100, KTOP_TEXT_ENTRY };
	fake_port.texts[2] = (struct fake_text) { ENTRY + 0x100, 0x2000, KTOP_TEXT };
	memset(stack, 0, sizeof(stack));
	memset(frames, 0xaa, sizeof(frames));
	regs = (struct ktop_regs) { .pc = 0x1111, .sp = at(2), .fp = at(4) };
	current = (struct ktop_current) { .stack_low = at(0), .stack_high = at(WORDS) };
	sample = (struct ktop_wire_sample) { 0 };
	return 0;
}

/* The same, but the port has said where most of the text is. */
static int set_up_known(void **state)
{
	set_up(state);
	current.text_low = 0x1000;
	current.text_high = ENTRY;
	return 0;
}

static uint64_t frame(uint32_t index)
{
	uint64_t address;

	memcpy(&address, frames + 8 * index, sizeof(address));
	return address;
}

static uint32_t kernel(void)
{
	uint32_t count = ktop_unwind_kernel(&regs, &current, &sample, frames);

	assert_true(count >= 1 && count <= KTOP_FRAMES_MAX);
	assert_int_equal(frames[8 * KTOP_FRAMES_MAX], 0xaa);
	assert_true(sample.exact & 1);
	return count;
}

static uint32_t user(void)
{
	uint32_t count = regs.user ? ktop_unwind_program(&regs, &sample, frames) :
		ktop_unwind_caller(&current, &sample, frames);

	assert_true(count <= KTOP_FRAMES_MAX);
	assert_int_equal(frames[8 * count], 0xaa);
	return count;
}

/* ---- kernel ---- */

static void ends_well_at_frame_pointer_zero(void **state)
{
	(void)state;
	record(4, at(8), 0x1200);
	record(8, 0, 0x1300);
	assert_int_equal(kernel(), 3);
	assert_int_equal(frame(0), 0x1111);
	assert_int_equal(frame(1), 0x1200);
	assert_int_equal(frame(2), 0x1300);
	assert_int_equal(sample.flags, 0);
	assert_int_equal(sample.exact, 1);
}

/* The word of the return address has the caller's frame pointer: the address is in the register. */
static void a_leaf_that_saved_its_frame_pointer_alone(void **state)
{
	(void)state;
	record(4, 0x9999, at(8));
	record(8, at(12), 0x1300);
	record(12, 0, 0x1400);
	regs.link = 0x1200;
	assert_int_equal(kernel(), 4);
	assert_int_equal(frame(1), 0x1200);
	assert_int_equal(frame(2), 0x1300);
	assert_int_equal(frame(3), 0x1400);
	assert_int_equal(sample.flags, 0);
	assert_int_equal(sample.exact, 1);
	record(4, at(8), 0x1250);			/* it has saved both */
	assert_int_equal(kernel(), 4);
	assert_int_equal(frame(1), 0x1250);
	record(4, 0x9999, at(2));			/* that is no caller's */
	assert_int_equal(kernel(), 1);
	assert_int_equal(sample.flags, KTOP_KERNEL_CUT);
}

static void ends_well_at_the_user_boundary(void **state)
{
	(void)state;
	current.user_valid = true;
	current.user_pc = USER_PC;
	record(4, at(8), 0x1200);
	record(8, 0x7fff1000, USER_PC);
	assert_int_equal(kernel(), 2);
	assert_int_equal(sample.flags, 0);
}

static void ends_well_at_a_zero_pc_below_a_user(void **state)
{
	(void)state;
	current.user_valid = true;
	current.user_pc = USER_PC;
	record(4, at(8), 0x1200);
	record(8, at(12), 0);
	assert_int_equal(kernel(), 2);
	assert_int_equal(sample.flags, 0);
}

/* In the known text the port is not asked; here the port would say that it is no text. */
static void known_text_is_not_asked_about(void **state)
{
	(void)state;
	current.text_low = 0x8000;
	current.text_high = 0x9000;
	record(4, at(8), 0x8001);			/* a return address: minus one, it is in the text */
	record(8, at(12), 0x9000);
	record(12, at(16), 0x1300);
	record(16, 0, 0x8000);
	regs.pc = 0x8000;
	assert_int_equal(kernel(), 4);
	assert_int_equal(sample.flags, KTOP_KERNEL_CUT);
	assert_int_equal(sample.exact, 1);
}

static void a_frame_outside_the_text_is_cut(void **state)
{
	(void)state;
	current.user_pc = USER_PC;			/* but user_valid is false */
	record(4, at(8), 0x1200);
	record(8, 0x7fff1000, USER_PC);
	assert_int_equal(kernel(), 2);
	assert_int_equal(sample.flags, KTOP_KERNEL_CUT);
}

static void the_frame_after_an_entry_stub_is_exact(void **state)
{
	(void)state;
	record(4, at(8), ENTRY + 0x10);			/* the handler returns into the stub */
	record(8, at(12), 0x1900);			/* interrupted at the first byte of text */
	record(12, 0, 0x1300);
	assert_int_equal(kernel(), 4);
	assert_int_equal(frame(2), 0x1900);
	assert_int_equal(sample.exact, 1 | 1 << 2);
	assert_int_equal(sample.flags, 0);
}

static void a_call_at_the_end_of_the_text_counts_as_text(void **state)
{
	(void)state;
	record(4, 0, 0x2000);				/* returns to the first byte after it */
	assert_int_equal(kernel(), 2);
	assert_int_equal(sample.flags, 0);
}

static void the_entry_window_is_a_leaf(void **state)
{
	(void)state;
	record(4, at(8), 0x1200);
	regs.sp = at(WORDS) + 8;
	assert_int_equal(kernel(), 1);
	assert_int_equal(sample.flags, KTOP_ENTRY);
	regs.sp = at(2);
	regs.fp = 0x7fff1000;
	sample.flags = 0;
	assert_int_equal(kernel(), 1);
	assert_int_equal(sample.flags, KTOP_ENTRY);
	regs.fp = at(4);
	regs.pc = ENTRY + 4;
	sample.flags = 0;
	assert_int_equal(kernel(), 1);
	assert_int_equal(sample.flags, KTOP_ENTRY);
}

/* A stack without room for a frame record: nothing is read, wherever the registers point. */
static void a_stack_too_small_for_a_record_is_not_walked(void **state)
{
	(void)state;
	for (uint32_t bytes = 0; bytes < 16; bytes += 8) {
		current.stack_low = regs.sp = at(2);
		current.stack_high = at(2) + bytes;
		for (uint64_t fp = 8; fp != 0; fp <<= 1) {
			regs.fp = fp;
			sample.flags = 0;
			assert_int_equal(kernel(), 1);
			assert_int_equal(sample.flags, KTOP_ENTRY);
		}
		regs.fp = at(2);
		assert_int_equal(kernel(), 1);
	}
}

/* A next frame pointer that must end the walk after two frames. */
static void bad_next(uint64_t fp)
{
	record(4, fp, 0x1200);
	sample.flags = 0;
	assert_int_equal(kernel(), 2);
	assert_int_equal(sample.flags, KTOP_KERNEL_CUT);
}

static void hostile_frame_pointers_end_the_walk(void **state)
{
	(void)state;
	bad_next(at(4));				/* itself */
	bad_next(at(2));				/* back */
	bad_next(at(9) + 1);				/* misaligned */
	bad_next(at(9) + 4);
	bad_next(at(WORDS));				/* at the end */
	bad_next(at(WORDS - 1));			/* half outside */
	bad_next(at(0) - 8);
	bad_next(8);
	bad_next(UINT64_MAX);
	bad_next(UINT64_MAX - 7);
	bad_next(1ull << 63);
}

static void a_loop_ends(void **state)
{
	(void)state;
	record(4, at(8), 0x1200);
	record(8, at(4), 0x1300);
	assert_int_equal(kernel(), 3);
	assert_int_equal(sample.flags, KTOP_KERNEL_CUT);
}

static void a_deep_stack_is_cut_at_the_limit(void **state)
{
	uint32_t word = 4;

	(void)state;
	for (int i = 0; i < KTOP_FRAMES_MAX + 10; i++, word += 2)
		record(word, at(word + 2), 0x1200);
	assert_int_equal(kernel(), KTOP_FRAMES_MAX);
	assert_int_equal(sample.flags, KTOP_KERNEL_CUT);
}

static void a_stack_of_just_the_limit_is_whole(void **state)
{
	uint32_t word = 4;

	(void)state;
	for (int i = 0; i < KTOP_FRAMES_MAX - 1; i++, word += 2)
		record(word, at(word + 2), 0x1200);
	record(word, 0, 0);
	assert_int_equal(kernel(), KTOP_FRAMES_MAX);
	assert_int_equal(sample.flags, 0);
}

/* Random stacks: nothing outside the stack is read. The sanitizers watch. */
static void garbage_never_leads_outside(void **state)
{
	unsigned seed = 7;
	uint32_t cut = 0, deepest = 0, count;

	(void)state;
	print_message("seed %u\n", seed);
	for (int round = 0; round < 20000; round++) {
		for (uint32_t i = 0; i < WORDS; i++) {
			uint64_t r = (uint64_t)rand_r(&seed);

			uint64_t fp = at((uint32_t)(r >> 4) % (WORDS + 8)) + (r % 32 == 0);

			stack[i] = r % 3 == 0 ? fp : r % 3 == 1 ? 0x1000 + r % 0x1000 : r << 20;
		}
		regs.fp = at((uint32_t)rand_r(&seed) % WORDS);
		sample = (struct ktop_wire_sample) { 0 };
		memset(frames, 0xaa, sizeof(frames));
		count = kernel();
		cut += sample.flags & KTOP_KERNEL_CUT;
		deepest = count > deepest ? count : deepest;
	}
	assert_true(cut > 1000 && deepest > 3);
}

/* ---- user ---- */

enum { USER_LOW = 0x7000 };

static void user_record(uint64_t address, uint64_t fp, uint64_t pc)
{
	memcpy(fake_port.user + address - USER_LOW, &fp, 8);
	memcpy(fake_port.user + address - USER_LOW + 8, &pc, 8);
}

static int set_up_user(void **state)
{
	set_up(state);
	fake_port.user_low = USER_LOW;
	regs = (struct ktop_regs) { .pc = 0x400000, .sp = 0x7000, .fp = 0x7010, .user = true };
	return 0;
}

static void walks_a_user_stack(void **state)
{
	(void)state;
	user_record(0x7010, 0x7040, 0x400100);
	user_record(0x7040, 0, 0x400200);
	assert_int_equal(user(), 3);
	assert_int_equal(frame(0), 0x400000);
	assert_int_equal(frame(2), 0x400200);
	assert_int_equal(sample.flags, KTOP_USER_EXACT);
}

static void a_zero_return_address_ends_a_user_stack(void **state)
{
	(void)state;
	user_record(0x7010, 0x7040, 0x400100);
	user_record(0x7040, 0x7080, 0);
	assert_int_equal(user(), 2);
	assert_int_equal(sample.flags, KTOP_USER_EXACT);
}

static void in_the_kernel_it_starts_at_the_saved_registers(void **state)
{
	(void)state;
	user_record(0x7020, 0, 0x400200);
	regs = (struct ktop_regs) { .pc = 0x1111, .fp = 0x7010 };
	assert_int_equal(user(), 0);			/* the entry has saved nothing */
	current.user_valid = true;
	current.user_pc = 0x400300;
	current.user_fp = 0x7020;
	assert_int_equal(user(), 2);
	assert_int_equal(frame(0), 0x400300);
	assert_int_equal(sample.flags, 0);		/* a system call: not exact */
	current.user_exact = true;
	user();
	assert_int_equal(sample.flags, KTOP_USER_EXACT);
}

static void bad_user_next(uint64_t fp, uint32_t reads)
{
	user_record(0x7010, fp, 0x400100);
	sample.flags = 0;
	fake_port.user_reads = 0;
	assert_int_equal(user(), 2);
	assert_int_equal(sample.flags, KTOP_USER_EXACT | KTOP_USER_CUT);
	assert_int_equal(fake_port.user_reads, reads);
}

static void hostile_user_frame_pointers_end_the_walk(void **state)
{
	(void)state;
	bad_user_next(0x7010, 1);			/* itself */
	bad_user_next(0x7008, 1);			/* back */
	bad_user_next(0x7044, 1);			/* misaligned */
	bad_user_next(0x10000, 2);			/* not mapped: only the port can tell */
	bad_user_next(1ull << 47, 1);			/* not a user address: never asked for */
	bad_user_next((1ull << 47) - 8, 1);
	bad_user_next(UINT64_MAX - 7, 1);
}

static void a_leaf_of_a_program_that_saved_its_frame_pointer_alone(void **state)
{
	(void)state;
	user_record(0x7010, 0x9999, 0x7040);
	user_record(0x7040, 0, 0x400200);
	assert_int_equal(user(), 2);
	regs.link = 0x400100;
	sample.flags = 0;
	assert_int_equal(user(), 3);
	assert_int_equal(frame(1), 0x400100);
	assert_int_equal(frame(2), 0x400200);
	assert_int_equal(sample.flags, KTOP_USER_EXACT);
}

static void a_return_address_beyond_user_space_is_cut(void **state)
{
	(void)state;
	user_record(0x7010, 0x7040, 0xffffffff80001234);
	assert_int_equal(user(), 1);
	assert_int_equal(sample.flags, KTOP_USER_EXACT | KTOP_USER_CUT);
}

static void a_deep_user_stack_is_cut_at_the_limit(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < KTOP_FRAMES_MAX + 4; i++)
		user_record(0x7010 + 16 * i, 0x7020 + 16 * i, 0x400100);
	assert_int_equal(user(), KTOP_FRAMES_MAX);
	assert_int_equal(sample.flags, KTOP_USER_EXACT | KTOP_USER_CUT);
}

#define KERNEL(function) \
	cmocka_unit_test_setup(function, set_up), \
	{ #function ", in known text", function, set_up_known, NULL, NULL }
#define USER(function) cmocka_unit_test_setup(function, set_up_user)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KERNEL(ends_well_at_frame_pointer_zero),
		KERNEL(a_leaf_that_saved_its_frame_pointer_alone),
		KERNEL(ends_well_at_the_user_boundary),
		KERNEL(ends_well_at_a_zero_pc_below_a_user),
		KERNEL(known_text_is_not_asked_about),
		KERNEL(a_frame_outside_the_text_is_cut),
		KERNEL(the_frame_after_an_entry_stub_is_exact),
		KERNEL(a_call_at_the_end_of_the_text_counts_as_text),
		KERNEL(the_entry_window_is_a_leaf),
		KERNEL(a_stack_too_small_for_a_record_is_not_walked),
		KERNEL(hostile_frame_pointers_end_the_walk),
		KERNEL(a_loop_ends),
		KERNEL(a_deep_stack_is_cut_at_the_limit),
		KERNEL(a_stack_of_just_the_limit_is_whole),
		KERNEL(garbage_never_leads_outside),
		USER(walks_a_user_stack),
		USER(a_zero_return_address_ends_a_user_stack),
		USER(in_the_kernel_it_starts_at_the_saved_registers),
		USER(hostile_user_frame_pointers_end_the_walk),
		USER(a_leaf_of_a_program_that_saved_its_frame_pointer_alone),
		USER(a_return_address_beyond_user_space_is_cut),
		USER(a_deep_user_stack_is_cut_at_the_limit),
	};

	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
