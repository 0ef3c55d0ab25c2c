/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_gdb.h"
#include "gdb_world.h"

#define STACKS FAKE_GDB_STACKS

static const struct ktop_task_places places = FAKE_GDB_PLACES;

static void test_greeting(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	assert_true(world.fake.running);
	assert_string_equal(gdb_stub_arch(world.stub), "x86_64");
	assert_int_equal(gdb_stub_cpus(world.stub), FAKE_GDB_CPUS);
	assert_int_equal(world.fake.continues, 1);
	world_end(&world);
}

static void test_a_sample(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });
	const struct target_state *cpu;
	struct gdb_stack stack;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_true(world.fake.running);
	assert_int_equal(world.fake.stops, 1);
	assert_int_equal(world.fake.continues, 2);

	cpu = gdb_stub_cpu(world.stub, 0, &stack);
	assert_non_null(cpu);
	assert_int_equal(cpu->mode, KTOP_MODE_USER);
	assert_int_equal(cpu->pc, 0x401000);
	assert_int_equal(stack.size, 0);	/* its page is not there */

	/* To the end of its page: the next one is not there, and to ask for both would have given nothing. */
	cpu = gdb_stub_cpu(world.stub, 1, &stack);
	assert_non_null(cpu);
	assert_int_equal(cpu->mode, KTOP_MODE_KERNEL);
	assert_int_equal(cpu->arch, KTOP_X86_64);
	assert_int_equal(cpu->pc, 0xffffffff81000010);
	assert_int_equal(cpu->space, 0x1234000);
	assert_int_equal(cpu->base, 0xffff888000000000);
	assert_int_equal(stack.size, 0x100);
	assert_int_equal(stack.bytes[1], 1);
	assert_false(gdb_stub_idle(world.stub, 1));
	world_end(&world);
}

/* Up to where memory is missing. */
static void test_the_stack_of_a_program(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .program_stack = true });
	struct gdb_stack stack;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_non_null(gdb_stub_cpu(world.stub, 0, &stack));
	assert_int_equal(stack.size, 0x80);
	assert_int_equal(stack.bytes[1], 0x81);
	assert_non_null(gdb_stub_cpu(world.stub, 1, &stack));
	assert_int_equal(stack.size, 0x100);
	assert_false(world.fake.broken || gdb_stub_refused(world.stub));
	world_end(&world);
}

/* QEMU tells whether a CPU is halted. Once it has said so, no code is read, by which an idle CPU is known else. */
static void test_a_halted_cpu(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .tells_halted = true, .halted = true });
	struct gdb_stack stack;
	unsigned packets;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_true(gdb_stub_idle(world.stub, 1) && !gdb_stub_idle(world.stub, 0));
	assert_non_null(gdb_stub_cpu(world.stub, 1, &stack));
	assert_int_equal(stack.size, 0);
	world.fake.halted = false;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_false(gdb_stub_idle(world.stub, 1));
	assert_non_null(gdb_stub_cpu(world.stub, 1, &stack));
	assert_int_equal(stack.size, 0x100);

	/*
	 * Hg, halted, g, of both; where a page of CPU 0's is; where two of CPU 1's are; the stack; physical and back;
	 * c.
	 */
	packets = world.fake.packets;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_int_equal(world.fake.packets - packets, 6 + 3 + 3 + 1 + 2 + 1);
	world_end(&world);
}

/*
 * Since the sample before, the CPU's base is known. So the pointer is asked for with the registers, and the program's
 * stack with the kernel's, where it was then. Behind the stacks, the machine stands until it is known whether it is
 * there.
 */
static void test_threads(void **state)
{
	struct world world = world_begin((struct fake_gdb) {
		.memory = 1, .sp = STACKS + 0x80003f00, .left = FAKE_GDB_PROGRAM,
	});
	struct task task;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_int_equal(gdb_stub_task(world.stub, 1).size, 0);
	gdb_stub_follow(world.stub, &places);
	for (int i = 0; i < 3; i++) {
		unsigned rounds = world.fake.rounds;

		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
		assert_int_equal(world.fake.stops, i + 2);
		assert_true(i == 0 || world.fake.rounds - rounds == 3);
		task = gdb_stub_task(world.stub, 1);
		assert_int_equal(task.process, 100);
		assert_int_equal(task.thread, 101);
		assert_int_equal(task.size, strlen("worker"));
		assert_memory_equal(task.name, "worker", task.size);
		assert_int_equal(gdb_stub_task(world.stub, 0).size, 0);	/* it has no data of its own */
	}
	world.fake.memory = 0;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_int_equal(gdb_stub_task(world.stub, 1).process, KTOP_KERNEL);
	world_end(&world);
}

/* SP_EL0 has the record's address, in the kernel. It is asked for once it is known where a thread's record is. */
static void test_threads_of_aarch64(void **state)
{
	static const struct ktop_task_places arm_places = FAKE_GDB_ARM_PLACES;
	static const struct { uint64_t task; bool is; } records[] = {
		{ 0, true },
		{ 0xffff800001234000, false }, { 0xfffe000001234000, false },	/* where devices are; nowhere */
		{ 0x0000ffffc0001000, false },					/* a program's stack */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct world world = world_begin((struct fake_gdb) {
			.architecture = "aarch64", .arm = true, .memory = 1, .task = records[i].task,
		});
		struct gdb_stack stack;

		assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world));
		assert_true(world_reaches(&world, GDB_RUNNING));
		assert_int_equal(gdb_stub_task(world.stub, 1).size, 0);
		gdb_stub_follow(world.stub, &arm_places);
		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
		assert_int_equal(gdb_stub_cpu(world.stub, 1, &stack)->mode, KTOP_MODE_KERNEL);
		assert_int_equal(gdb_stub_task(world.stub, 1).thread, records[i].is ? 101 : KTOP_NO_THREAD);
		assert_int_equal(world.fake.read == FAKE_GDB_ARM_TASK + 0x10, records[i].is);
		assert_int_equal(gdb_stub_task(world.stub, 0).size, 0);		/* it is in a program */
		world_end(&world);
	}
}

/*
 * On riscv64 a kernel may have any addresses: the mode tells it from a program. Where QEMU does not tell that either,
 * a stack in the lower half is not read, and the remark is due.
 */
static void test_modes_of_riscv64(void **state)
{
	static const struct {
		uint64_t pc, sp;
		unsigned privilege;
		bool told;
		enum ktop_mode mode;
		uint32_t size;			/* of the stack, as far as it is read */
	} rows[] = {
		{ 0x80000020, 0x80001f00, 3, true, KTOP_MODE_KERNEL, KTOP_STACK_MAX },
		{ 0x80000020, 0x80001f00, 1, true, KTOP_MODE_KERNEL, KTOP_STACK_MAX },
		{ 0x80000020, 0x80003f00, 1, true, KTOP_MODE_KERNEL, 0x100 },	/* where the kernel's ends */
		{ 0x10020, 0x3fff0f00, 0, true, KTOP_MODE_USER, KTOP_STACK_MAX },
		{ 0x10020, 0x3fff3f00, 0, true, KTOP_MODE_USER, KTOP_STACK_MAX },
		{ 0x80000020, 0x80001f00, 3, false, KTOP_MODES, 0 },
		{ 0xffffffff80000020, 0xff20000000010f00, 1, false, KTOP_MODES, KTOP_STACK_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world world = world_begin((struct fake_gdb) {
			.architecture = "riscv:rv64", .riscv = true, .no_privilege = !rows[i].told,
			.privilege = rows[i].privilege, .pc = rows[i].pc, .sp = rows[i].sp, .deep = true,
		});
		const struct target_state *cpu;
		struct gdb_stack stack;

		assert_true(world_reaches(&world, GDB_RUNNING));
		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
		cpu = gdb_stub_cpu(world.stub, 1, &stack);
		assert_non_null(cpu);
		assert_int_equal(cpu->mode, rows[i].mode);
		assert_int_equal(cpu->space, rows[i].told ? 0x81234000 : 0);
		assert_int_equal(stack.size, rows[i].size);
		assert_int_equal(gdb_stub_refused(world.stub), !rows[i].told);	/* a program's, too, on CPU 0 */
		world_end(&world);
	}
}

/*
 * Where a device lies, nothing is read: it might crash QEMU. The device comes after a sample of the same stack. On
 * aarch64 the tables of the lower half are not known.
 */
static void test_a_stack_on_a_device(void **state)
{
	static const struct { uint64_t sp, pc; bool arm, tables; } stacks[] = {
		{ 0x40001000, 0x40000020, true, false }, { 0xffff800010000800, 0, true, false },
		{ 0xffff800010000800, 0, true, true }, { STACKS + 0x80000f00, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		struct world world = world_begin((struct fake_gdb) {
			.architecture = stacks[i].arm ? "aarch64" : NULL, .arm = stacks[i].arm,
			.pc = stacks[i].pc, .sp = stacks[i].sp,
		});
		struct gdb_stack stack;

		assert_true(world_reaches(&world, GDB_RUNNING));
		assert_true(gdb_stub_knows_ram(world.stub));
		for (int is_device = 0; is_device < 2; is_device++) {
			bool is_read = !is_device && stacks[i].sp >> 63;

			world.fake.device = is_device && !stacks[i].tables ? stacks[i].sp : 0;
			world.fake.tables_on_device = is_device && stacks[i].tables;
			for (int again = 0; again < 2; again++) {
				assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
				assert_non_null(gdb_stub_cpu(world.stub, 1, &stack));
				assert_int_equal(stack.size > 0, is_read);
				assert_int_equal(gdb_stub_refused(world.stub), !is_read);
				assert_false(world.fake.broken);
				assert_false(world.fake.physical);	/* a debugger does not expect that */
			}
		}
		world_end(&world);
	}
}

/* If QEMU does not tell where there is RAM, samples have registers alone. */
static void test_unknown_ram(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .secretive = true });
	struct gdb_stack stack;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	assert_false(gdb_stub_knows_ram(world.stub));
	gdb_stub_follow(world.stub, &places);
	for (int i = 0; i < 3; i++) {
		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
		assert_non_null(gdb_stub_cpu(world.stub, 1, &stack));
		assert_int_equal(stack.size, 0);
		assert_int_equal(world.fake.read, 0);
	}
	world_end(&world);
}

static struct gdb_stack stack_of_works(struct fake_gdb fake, unsigned samples)
{
	struct gdb_stack stack;
	struct world world = world_begin(fake);

	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_follow(world.stub, &places);
	for (unsigned i = 0; i < samples; i++) {
		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
		assert_int_equal(world.fake.stops, i + 1);
	}
	assert_false(world.fake.broken);
	assert_non_null(gdb_stub_cpu(world.stub, 1, &stack));
	for (unsigned i = 0; i < stack.user_size; i++)
		assert_int_equal(stack.user[i], 0x80 + i);
	world_end(&world);
	return stack;
}

/* CPU 1 is in its kernel, and works for a program. */
static void test_the_program_of_a_kernel(void **state)
{
	struct fake_gdb fake = {
		.memory = 1, .sp = STACKS + 0x80003f00, .left = FAKE_GDB_PROGRAM, .program_stack = true,
	};
	struct gdb_stack stack = stack_of_works(fake, 1);

	(void)state;
	assert_true(stack.user_address == FAKE_GDB_PROGRAM);
	assert_int_equal(stack.user_size, 0x80);	/* to the end of its page */

	/* On a stack for interrupts: it is known from the sample before that it leads to the thread's. */
	fake.link = STACKS + 0x80013f00;
	assert_int_equal(stack_of_works(fake, 1).user_size, 0);
	assert_int_equal(stack_of_works(fake, 2).user_size, 0x80);
	fake.loose = true;
	fake.sp = STACKS + 0x80000f00;
	assert_int_equal(stack_of_works(fake, 1).user_size, 0);
	assert_int_equal(stack_of_works(fake, 2).user_size, 0x80);

	/* A thread of the kernel's own; a program whose stack is nowhere, or on a device. */
	fake.link = 0;
	fake.left = 0;
	assert_true(stack_of_works(fake, 2).user_address == 0);
	fake.left = FAKE_GDB_PROGRAM + 0x1000;
	assert_int_equal(stack_of_works(fake, 2).user_size, 0);
	fake.device = fake.left;
	assert_int_equal(stack_of_works(fake, 2).user_size, 0);
}

/* Rounds of one sample, and how many bytes of the program's stack it has, which must be those at `left`. */
static unsigned rounds_of(struct world *world, uint64_t left, uint32_t *bytes)
{
	unsigned before = world->fake.rounds;
	struct gdb_stack stack;

	world->fake.left = left;
	assert_true(world_sample(world) && world_reaches(world, GDB_RUNNING) && world->fake.running);
	assert_non_null(gdb_stub_cpu(world->stub, 1, &stack));
	assert_true(stack.user_address == left || !stack.user_size);
	*bytes = stack.user_size;
	return world->fake.rounds - before;
}

/* The program's stack is looked for where it was in the sample before. What lies elsewhere counts for nothing. */
static void test_the_program_moves(void **state)
{
	struct world world = world_begin((struct fake_gdb) {
		.memory = 1, .sp = STACKS + 0x80003f00, .left = FAKE_GDB_PROGRAM, .program_stack = true,
	});
	uint64_t deeper = FAKE_GDB_PROGRAM - 0x40;
	uint32_t bytes;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_follow(world.stub, &places);
	rounds_of(&world, FAKE_GDB_PROGRAM, &bytes);
	assert_int_equal(bytes, 0x80);
	assert_int_equal(rounds_of(&world, FAKE_GDB_PROGRAM, &bytes), 3);	/* registers, stacks, "go on" */
	assert_int_equal(bytes, 0x80);
	assert_int_equal(rounds_of(&world, deeper, &bytes), 3);		/* the guess was wrong: one more question */
	assert_int_equal(bytes, 0xc0);
	assert_int_equal(rounds_of(&world, deeper, &bytes), 3);
	assert_int_equal(bytes, 0xc0);

	rounds_of(&world, 0, &bytes);			/* a thread of the kernel's own */
	assert_int_equal(bytes, 0);
	rounds_of(&world, deeper, &bytes);
	assert_int_equal(bytes, 0xc0);
	world_end(&world);
}

/* A pointer that was read by another base than the CPU's counts for nothing: the right one is read. */
static void test_a_base_that_changes(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .memory = 1 });
	unsigned rounds;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_follow(world.stub, &places);
	rounds = world.fake.rounds;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	/* Registers; pointer and stack; record; before both of these, where they are; and then it is let go. */
	assert_int_equal(world.fake.rounds - rounds, 6);
	assert_int_equal(gdb_stub_task(world.stub, 1).thread, 101);
	world.fake.program_base = 0xffff888000000000;	/* two that may be: neither is believed */
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_int_equal(gdb_stub_task(world.stub, 1).size, 0);
	world.fake.program_base = 0;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_int_equal(gdb_stub_task(world.stub, 1).thread, 101);
	world_end(&world);
}

/* What a sample asks for while the machine stands: registers of both CPUs, code, stack, thread. */
static void test_packets(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .memory = 1, .sp = STACKS + 0x80001000 });
	unsigned packets;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_follow(world.stub, &places);
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	packets = world.fake.packets;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	/*
	 * Hg, halted, g, of both; where a page of CPU 0's is; where four of CPU 1's are; the pointer; code, stack in
	 * two parts, record; c. Around what is read of memory: that addresses are physical, and no longer so.
	 */
	assert_int_equal(world.fake.packets - packets, 6 + 3 + 5 + 1 + 4 + 1 + 4);
	world_end(&world);
}

/* Behind the first 2 KiB of a stack come as many of what follows. */
static void test_a_deep_stack(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .sp = STACKS + 0x80000010, .deep = true });
	struct gdb_stack stack;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	gdb_stub_cpu(world.stub, 1, &stack);
	assert_int_equal(stack.size, KTOP_STACK_MAX);
	assert_int_equal(stack.linked_size, KTOP_STACK_MAX);
	assert_true(stack.linked_address == STACKS + 0x80000010 + KTOP_STACK_MAX);
	for (unsigned i = 0; i < KTOP_STACK_MAX; i++) {
		assert_int_equal(stack.bytes[i], (i + 0x10) & 0xff);
		assert_int_equal(stack.linked[i], (i + 0x10) & 0xff);
	}
	world.fake.deep = false;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	gdb_stub_cpu(world.stub, 1, &stack);
	assert_int_equal(stack.linked_size, KTOP_STACK_MAX - 0x10);
	world_end(&world);
}

/* The stack of interrupts leads to that of the thread: from the second sample on it on, and in a Linux alone. */
static void test_a_linked_stack(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .sp = STACKS + 0x80003f00, .link = STACKS + 0x80010f80 });
	struct gdb_stack stack;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			gdb_stub_follow(world.stub, &places);
		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
		gdb_stub_cpu(world.stub, 1, &stack);
		assert_int_equal(stack.size, 0x100);
		assert_int_equal(stack.linked_size, i < 3 ? 0 : 0x80);
	}
	assert_true(stack.linked_address == world.fake.link);
	for (unsigned i = 0; i < stack.linked_size; i++)
		assert_int_equal(stack.linked[i], 0x80 + i);
	world_end(&world);
}

/*
 * A pointer to what may be a device is not followed. A base that a program may have set is not believed. In any case
 * the machine runs on.
 */
static void test_threads_that_lie(void **state)
{
	static const struct fake_gdb lies[] = {
		{ .task = 0xffffc90000004000 }, { .task = 0xfee00000 }, { .task = UINT64_MAX },
		{ .program_base = 0xffffc90000004000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct world world = world_begin(lies[i]);
		struct gdb_stack stack;

		assert_true(world_reaches(&world, GDB_RUNNING));
		gdb_stub_follow(world.stub, &places);
		assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
		assert_int_equal(gdb_stub_task(world.stub, 1).size, 0);
		gdb_stub_cpu(world.stub, 1, &stack);
		/* The last that was read: the pointer, or the stack. */
		assert_true(world.fake.read == (lies[i].task ? FAKE_GDB_POINTER : FAKE_GDB_SP + STACKS));
		world_end(&world);
	}
}

/* Each sample reads the pages that are wanted, in its one stop; of one that cannot be read, it tells that. */
static void test_pages(void **state)
{
	static const uint64_t pages[] = { FAKE_GDB_DATA + GDB_PAGE, FAKE_GDB_DATA };
	struct world world = world_begin((struct fake_gdb) { 0 });
	const uint8_t *bytes;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_read(world.stub, pages, 2);
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_int_equal(world.fake.stops, 1);
	assert_true(gdb_stub_in_kernel(world.stub));
	assert_true(gdb_stub_page(world.stub, pages[0], &bytes));
	assert_null(bytes);
	assert_true(gdb_stub_page(world.stub, pages[1], &bytes));
	assert_non_null(bytes);
	for (unsigned i = 0; i < GDB_PAGE; i++)
		assert_int_equal(bytes[i], i & 0xff);
	assert_false(gdb_stub_page(world.stub, FAKE_GDB_DATA - GDB_PAGE, &bytes));
	gdb_stub_read(world.stub, NULL, 0);
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING));
	assert_false(gdb_stub_page(world.stub, pages[1], &bytes));
	world_end(&world);
}

/* In entry code, the kernel's pages may be missing though they exist: there is no stack, or one for entries. */
static void test_pages_in_entry_code(void **state)
{
	static const struct fake_gdb fakes[] = {
		{ .sp = UINT64_C(0xfffffe0000002f00) }, { .sp = UINT64_C(0x7ffc00001f00) },
		{ .architecture = "aarch64", .arm = true, .device = UINT64_C(0xffff800010000000),
			.sp = UINT64_C(0xffff800010000800) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++) {
		struct world world = world_begin(fakes[i]);

		assert_true(world_reaches(&world, GDB_RUNNING) && world_sample(&world));
		assert_true(world_reaches(&world, GDB_RUNNING));
		assert_false(gdb_stub_in_kernel(world.stub));
		world_end(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greeting),
		cmocka_unit_test(test_a_sample),
		cmocka_unit_test(test_the_stack_of_a_program),
		cmocka_unit_test(test_a_halted_cpu),
		cmocka_unit_test(test_threads_of_aarch64),
		cmocka_unit_test(test_modes_of_riscv64),
		cmocka_unit_test(test_a_stack_on_a_device),
		cmocka_unit_test(test_unknown_ram),
		cmocka_unit_test(test_a_base_that_changes),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_the_program_of_a_kernel),
		cmocka_unit_test(test_the_program_moves),
		cmocka_unit_test(test_a_deep_stack),
		cmocka_unit_test(test_a_linked_stack),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_that_lie),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pages_in_entry_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
