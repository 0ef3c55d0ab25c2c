/* SPDX-License-Identifier: MIT */
/* Samples whose memory is in a file. The test is its own QEMU: it shares the file, and is at the socket's other end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/wire.h"
#include "tests/unit/agent/vm/shared_memory.h"
#include "tests/unit/fakes/fake_gdb.h"
#include "gdb_world.h"

enum { MIB = 1 << 20, PROOFS = 16, PAGE = 4096 };

static struct world world;

static unsigned packets_of_a_sample(void)
{
	unsigned packets = world.fake.packets;

	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
	return world.fake.packets - packets;
}

/* Maps one page of CPU 1's, whose tables are those that the fake's registers tell. */
enum { ROOT = 0x1234000, TABLES = 0x1300000, PLACE = 0x1400000 };
enum { IS = 3 };			/* on x86-64: present; on aarch64: a table, or a page */

static void put(struct shared_memory *file, uint64_t table, uint64_t index, uint64_t entry)
{
	memcpy(file->bytes + table + index * 8, &entry, sizeof(entry));
}

static void map_page(struct shared_memory *file, uint64_t address, unsigned number, const uint8_t *content)
{
	uint64_t tables = TABLES + number * UINT64_C(0x10000), place = PLACE + number * UINT64_C(0x10000), entry;

	memcpy(&entry, file->bytes + ROOT + (address >> 39 & 511) * 8, sizeof(entry));
	if (entry)
		tables = (entry & ~UINT64_C(0xfff)) - file->base;
	put(file, ROOT, address >> 39 & 511, (file->base + tables) | IS);
	put(file, tables, address >> 30 & 511, (file->base + tables + 0x1000) | IS);
	put(file, tables + 0x1000, address >> 21 & 511, (file->base + tables + 0x2000) | IS);
	put(file, tables + 0x2000, address >> 12 & 511, (file->base + place) | IS);
	for (unsigned i = 0; i < PAGE; i++)
		file->bytes[place + i] = content ? content[i] : (uint8_t)i;
}

static void begin(const struct fake_gdb *is)
{
	static const struct ktop_task_places places = FAKE_GDB_PLACES;

	world = world_begin(*is);
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_follow(world.stub, &places);
	gdb_stub_share(world.stub);
}

/* Registers come by packets, all else out of the file: Hg g, of both CPUs; c. */
static void samples_are_read_from_the_file(void **state)
{
	struct shared_memory file = shared_memory_make(64 * MIB);
	uint8_t record[PAGE] = { 0 }, physical[8];
	const uint8_t *page;
	const uint64_t pages[] = { FAKE_GDB_DATA };
	struct gdb_stack stack;
	struct task task;

	(void)state;
	map_page(&file, FAKE_GDB_STACKS + FAKE_GDB_SP / PAGE * PAGE, 0, NULL);
	begin(&(struct fake_gdb) { .memory = 1 });
	for (int i = 0; i < PROOFS; i++) {
		assert_false(gdb_stub_is_direct(world.stub));
		assert_true(packets_of_a_sample() > 5);
	}
	assert_true(gdb_stub_is_direct(world.stub));

	memcpy(record, &(uint64_t) { FAKE_GDB_TASK }, 8);
	memmove(record + 0x20, record, 8);
	map_page(&file, FAKE_GDB_POINTER / PAGE * PAGE, 1, record);
	memcpy(record + 0x10, &(uint32_t[]) { 7, 8 }, 8);
	memcpy(record + 0x30, "reader", 7);
	map_page(&file, FAKE_GDB_TASK, 2, record);
	map_page(&file, FAKE_GDB_DATA, 3, NULL);
	gdb_stub_read(world.stub, pages, 1);
	assert_int_equal(packets_of_a_sample(), 5);
	gdb_stub_cpu(world.stub, 1, &stack);
	assert_int_equal(stack.size, 0x100);
	assert_int_equal(stack.bytes[3], 3);
	task = gdb_stub_task(world.stub, 1);
	assert_int_equal(task.thread, 8);
	assert_memory_equal(task.name, "reader", task.size);
	assert_true(gdb_stub_page(world.stub, FAKE_GDB_DATA, &page) && page && page[9] == 9);
	assert_true(gdb_stub_physical(world.stub, PLACE + 4, physical, sizeof(physical)) && physical[0] == 4);
	assert_false(gdb_stub_physical(world.stub, 64 * MIB, physical, sizeof(physical)));

	/* The file is cut: once many stacks are missing, samples are as before. */
	assert_int_equal(ftruncate(file.fd, MIB), 0);
	for (int i = 0; i < PROOFS; i++)
		packets_of_a_sample();
	assert_false(gdb_stub_is_direct(world.stub));
	assert_true(packets_of_a_sample() > 5);
	gdb_stub_cpu(world.stub, 1, &stack);
	assert_int_equal(stack.size, 0x100);
	world_end(&world);
	shared_memory_clear(&file);
}

/* The program's stack lies behind the words at the end of the kernel's. */
static void a_program_below_its_kernel(void **state)
{
	const uint64_t sp = FAKE_GDB_STACKS + 0x80003f00, left[] = { 0x401000, 0x33, 0x246, FAKE_GDB_PROGRAM, 0x2b };
	struct shared_memory file = shared_memory_make(64 * MIB);
	uint8_t page[PAGE];
	struct gdb_stack stack;

	(void)state;
	for (int i = 0; i < PAGE; i++)
		page[i] = (uint8_t)i;
	memcpy(page + PAGE - sizeof(left), left, sizeof(left));
	map_page(&file, sp / PAGE * PAGE, 0, page);
	map_page(&file, FAKE_GDB_PROGRAM / PAGE * PAGE, 1, NULL);
	begin(&(struct fake_gdb) { .memory = 1, .sp = sp, .left = FAKE_GDB_PROGRAM, .program_stack = true });
	for (int i = 0; i < PROOFS; i++)
		packets_of_a_sample();
	assert_true(gdb_stub_is_direct(world.stub));
	packets_of_a_sample();
	gdb_stub_cpu(world.stub, 1, &stack);
	assert_int_equal(stack.size, 0x100);
	assert_true(stack.user_address == FAKE_GDB_PROGRAM);
	assert_int_equal(stack.user_size, 0x80);
	assert_int_equal(stack.user[1], 0x81);
	world_end(&world);
	shared_memory_clear(&file);
}

/* The registers that tell the page tables and the thread come one by one. */
static void samples_of_aarch64(void **state)
{
	static const struct ktop_task_places places = FAKE_GDB_ARM_PLACES;
	struct shared_memory file = shared_memory_make(64 * MIB);
	uint8_t record[PAGE] = { [0x10] = 5, [0x14] = 6, [0x30] = 'a', 'r', 'm' };
	struct gdb_stack stack;

	(void)state;
	file.base = 0x40000000;
	map_page(&file, FAKE_GDB_STACKS + FAKE_GDB_SP / PAGE * PAGE, 0, NULL);
	map_page(&file, FAKE_GDB_ARM_TASK, 1, record);
	begin(&(struct fake_gdb) { .architecture = "aarch64", .arm = true, .memory = 1 });
	gdb_stub_follow(world.stub, &places);
	for (int i = 0; i < PROOFS; i++) {
		packets_of_a_sample();
		assert_int_equal(gdb_stub_task(world.stub, 1).thread, 101);
	}
	assert_true(gdb_stub_is_direct(world.stub));
	assert_int_equal(packets_of_a_sample(), 2 * 5 + 1);
	gdb_stub_cpu(world.stub, 1, &stack);
	assert_int_equal(stack.size, 0x100);
	assert_int_equal(gdb_stub_task(world.stub, 1).thread, 6);
	assert_int_equal(gdb_stub_task(world.stub, 0).size, 0);
	world_end(&world);
	shared_memory_clear(&file);
}

/* It has other bytes than the stub tells: it is some other file. */
static void another_file_is_not_believed(void **state)
{
	struct shared_memory file = shared_memory_make(64 * MIB);

	(void)state;
	map_page(&file, FAKE_GDB_STACKS + FAKE_GDB_SP / PAGE * PAGE, 0, (uint8_t[PAGE]) { 1, 2, 3 });
	begin(&(struct fake_gdb) { .memory = 1 });
	for (int i = 0; i < 2 * PROOFS; i++)
		assert_true(packets_of_a_sample() > 5);
	assert_false(gdb_stub_is_direct(world.stub));
	world_end(&world);
	shared_memory_clear(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_read_from_the_file), cmocka_unit_test(samples_of_aarch64),
		cmocka_unit_test(a_program_below_its_kernel), cmocka_unit_test(another_file_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
