/* SPDX-License-Identifier: MIT */
/* What the process at the gdb stub reads of the guest's memory, and what it never asks the stub for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_memory.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "kernel-hook/plugin/reads.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_gdb.h"
#include "gdb_world.h"

enum { HEAD = sizeof(struct ktop_wire_memory) + 2 };	/* of a payload, before the bytes */

static void take_sample(struct world *world)
{
	assert_true(world_reaches(world, GDB_RUNNING));
	gdb_memory_look(world->stub);
	assert_true(world_sample(world));
	gdb_memory_take(world->stub, world->now);
}

/* The next page that is sent: how many bytes it has. */
static uint32_t next(bool *physical, uint64_t *address, uint8_t *first)
{
	static uint8_t payload[KTOP_MEMORY_MAX];
	struct ktop_wire_memory fixed;
	uint32_t size = reads_next(payload);

	assert_true(size >= HEAD);
	memcpy(&fixed, payload, sizeof(fixed));
	*physical = fixed.physical;
	*address = fixed.address;
	*first = payload[HEAD + (size > HEAD + 5 ? 5 : 0)];
	return size - HEAD;
}

static void pages_come_along_with_samples(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });
	uint64_t address;
	uint8_t fifth;
	bool physical;

	(void)state;
	assert_true(reads_ask(false, FAKE_GDB_DATA, 2));
	assert_true(reads_ask(false, UINT64_C(0xffffc90000000000), 1));
	assert_true(reads_ask(true, UINT64_C(0x1000), 1));
	assert_int_equal(reads_next((uint8_t[KTOP_MEMORY_MAX]) { 0 }), 0);
	take_sample(&world);
	assert_int_equal(next(&physical, &address, &fifth), GDB_PAGE);
	assert_true(address == FAKE_GDB_DATA && !physical && fifth == 5);
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_true(address == FAKE_GDB_DATA + GDB_PAGE && !physical);
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_true(address == UINT64_C(0xffffc90000000000));
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_true(physical);
	assert_false(reads_wanted());
	assert_int_equal(world.fake.stops, 1);
	world_end(&world);
}

/* Any page that lies in RAM may be read, wherever it is mapped; a device never is. */
static void pages_of_ram(void **state)
{
	static const struct { uint64_t page, device; bool is; } pages[] = {
		{ .page = FAKE_GDB_DATA, .is = true }, { .page = FAKE_GDB_DATA, .device = FAKE_GDB_DATA },
		{ .page = FAKE_GDB_STACKS + 0x80000000, .is = true }, { .page = FAKE_GDB_DATA + GDB_PAGE },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(pages) / sizeof(pages[0]); i++) {
		uint64_t address, page = pages[i / 2].page;
		struct world world;
		uint8_t fifth;
		bool physical;

		world = world_begin((struct fake_gdb) {
			.device = pages[i / 2].device, .arm = i % 2, .architecture = i % 2 ? "aarch64" : NULL,
		});
		assert_true(reads_ask(false, page, 1));
		take_sample(&world);
		assert_int_equal(next(&physical, &address, &fifth), pages[i / 2].is ? GDB_PAGE : 0);
		assert_true(address == page && !world.fake.broken && !reads_wanted());
		world_end(&world);
	}
}

/* The lower half of aarch64 has other tables, which are not walked. */
static void no_pages_of_programs(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .architecture = "aarch64", .arm = true });
	uint64_t address;
	uint8_t fifth;
	bool physical;

	(void)state;
	assert_true(reads_ask(false, 0x40001000, 1));
	take_sample(&world);
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_false(world.fake.broken || reads_wanted());
	world_end(&world);
}

/* A few with each sample: the guest stands for them. */
static void a_sample_reads_few(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });
	uint64_t address;
	uint8_t fifth;
	bool physical;

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_true(reads_ask(false, FAKE_GDB_DATA, 1));
	for (unsigned left = 20; left;) {
		unsigned more = left < GDB_PAGES ? left : GDB_PAGES;

		take_sample(&world);
		for (unsigned i = 0; i < more; i++)
			assert_int_equal(next(&physical, &address, &fifth), GDB_PAGE);
		assert_int_equal(reads_next((uint8_t[KTOP_MEMORY_MAX]) { 0 }), 0);
		left -= more;
	}
	assert_int_equal(world.fake.stops, 3);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_come_along_with_samples),
		cmocka_unit_test(pages_of_ram), cmocka_unit_test(no_pages_of_programs),
		cmocka_unit_test(a_sample_reads_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
