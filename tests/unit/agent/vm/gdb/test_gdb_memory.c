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
#include "kernel-hook/plugin/ram.h"
#include "kernel-hook/plugin/reads.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_gdb.h"

enum { STEPS = 4000, HEAD = sizeof(struct ktop_wire_memory) + 2 };	/* of a payload, before the bytes */

static void only_what_cannot_be_a_device_is_read(void **state)
{
	static const struct { const char *arch; uint64_t address; bool is; } places[] = {
		{ "x86_64", 0xffffffff81000000, true }, { "x86_64", 0xffffffffc0123000, true },
		{ "x86_64", 0xfffffe0000000000, true }, { "x86_64", 0xfffffffffefff000, true },
		{ "x86_64", 0xfffffe0000001000, false },
		{ "x86_64", 0xffffffff7ffff000, false },	/* EFI's */
		{ "x86_64", 0xffffffffff000000, false }, { "x86_64", 0xffffffffff5fd000, false },	/* the fixmap */
		{ "x86_64", 0xffffc90000000000, false },	/* vmalloc and ioremap */
		{ "x86_64", 0xffff8880000b8000, false }, { "x86_64", 0xfee00000, false },
		{ "riscv64", 0xffffffff80000000, true }, { "riscv64", 0xffffffc800000000, false },
		{ "aarch64", 0xffffffff81000000, false }, { "i386", 0xc1000000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (ram_is(places[i].arch, places[i].address) != places[i].is)
			fail_msg("%s %llx", places[i].arch, (unsigned long long)places[i].address);
}

/* A CPU's data, and the records of threads: in the map of all RAM, wherever KASLR puts it, or in the kernel's data. */
static void records_lie_in_ram(void **state)
{
	static const struct { const char *arch; uint64_t base, address; bool may; } places[] = {
		{ "x86_64", 0xffff88803ea00000, 0xffff88803ea1fbc0, true },
		{ "x86_64", 0xffff88803ea00000, 0xffff888002345680, true },
		{ "x86_64", 0xffff9d1b3ea00000, 0xffff9d1b02345680, true },
		{ "x86_64", 0xffff88803ea00000, 0xffffffff8280a940, true },	/* init_task */
		{ "x86_64", 0xffffffff82fc0000, 0xffffffff8280a940, true },	/* early in a boot */
		{ "x86_64", 0xffff88803ea00000, 0xffffc90000004000, false },	/* a device */
		{ "x86_64", 0xffff88803ea00000, 0xffff898000000000, false },	/* 1 TiB behind */
		{ "x86_64", 0xffff88803ea00000, 0xffffffffff5fd000, false },	/* the fixmap */
		{ "x86_64", 0xffff88803ea00000, 0x7fff00001000, false },
		{ "x86_64", 0, 0xffff888002345680, false }, { "x86_64", 0, 0xffffffff8280a940, false },
		{ "aarch64", 0xffff000002345680, 0xffff000002345680, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (ram_is_record(places[i].arch, places[i].base, places[i].address) != places[i].may)
			fail_msg("%s %llx", places[i].arch, (unsigned long long)places[i].address);
}

static struct fake_gdb fake;
static struct gdb_stub *stub;
static uint64_t now = NS_PER_SECOND;

static bool step(void)
{
	now += NS_PER_MS / 10;
	fake_gdb_step(&fake);
	return gdb_stub_step(stub, now);
}

static void take_sample(void)
{
	bool taken = false;

	for (int i = 0; i < STEPS && gdb_stub_state(stub) != GDB_RUNNING; i++)
		step();
	for (int i = 0; i < STEPS; i++)		/* what is on its way arrives */
		fake_gdb_step(&fake);
	gdb_memory_look(stub);
	gdb_stub_sample(stub, now);
	for (int i = 0; i < STEPS && !taken; i++)
		taken = step();
	assert_true(taken);
	gdb_memory_take(stub, now);
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
	uint64_t address;
	uint8_t fifth;
	bool physical;

	(void)state;
	stub = gdb_stub_new(fake_gdb_begin(&fake), now);
	assert_true(reads_ask(false, FAKE_GDB_DATA, 2));
	assert_true(reads_ask(false, UINT64_C(0xffffc90000000000), 1));
	assert_true(reads_ask(true, UINT64_C(0x1000), 1));
	assert_int_equal(reads_next((uint8_t[KTOP_MEMORY_MAX]) { 0 }), 0);
	take_sample();
	assert_int_equal(next(&physical, &address, &fifth), GDB_PAGE);
	assert_true(address == FAKE_GDB_DATA && !physical && fifth == 5);
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_true(address == FAKE_GDB_DATA + GDB_PAGE && !physical);
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_true(address == UINT64_C(0xffffc90000000000));
	assert_int_equal(next(&physical, &address, &fifth), 0);
	assert_true(physical);
	assert_false(reads_wanted());
	assert_int_equal(fake.stops, 1);
	gdb_stub_free(stub);
	fake_gdb_end(&fake);
}

/* On aarch64 the page tables tell what is RAM: any page of it may be read, and a device never is. */
static void pages_of_aarch64(void **state)
{
	static const struct { uint64_t page, device; bool is; } pages[] = {
		{ .page = FAKE_GDB_DATA, .is = true }, { .page = FAKE_GDB_DATA, .device = FAKE_GDB_DATA },
		{ .page = FAKE_GDB_DATA + GDB_PAGE }, { .page = 0x40001000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		uint64_t address;
		uint8_t fifth;
		bool physical;

		fake = (struct fake_gdb) { .architecture = "aarch64", .arm = true, .device = pages[i].device };
		stub = gdb_stub_new(fake_gdb_begin(&fake), now);
		assert_true(reads_ask(false, pages[i].page, 1));
		take_sample();
		assert_int_equal(next(&physical, &address, &fifth), pages[i].is ? GDB_PAGE : 0);
		assert_true(address == pages[i].page && !fake.broken && !reads_wanted());
		gdb_stub_free(stub);
		fake_gdb_end(&fake);
	}
}

/* A few with each sample: the guest stands for them. */
static void a_sample_reads_few(void **state)
{
	uint64_t address;
	uint8_t fifth;
	bool physical;

	(void)state;
	fake = (struct fake_gdb) { 0 };
	stub = gdb_stub_new(fake_gdb_begin(&fake), now);
	for (int i = 0; i < 20; i++)
		assert_true(reads_ask(false, FAKE_GDB_DATA, 1));
	for (unsigned left = 20; left;) {
		unsigned more = left < GDB_PAGES ? left : GDB_PAGES;

		take_sample();
		for (unsigned i = 0; i < more; i++)
			assert_int_equal(next(&physical, &address, &fifth), GDB_PAGE);
		assert_int_equal(reads_next((uint8_t[KTOP_MEMORY_MAX]) { 0 }), 0);
		left -= more;
	}
	assert_int_equal(fake.stops, 3);
	gdb_stub_free(stub);
	fake_gdb_end(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_cannot_be_a_device_is_read),
		cmocka_unit_test(records_lie_in_ram),
		cmocka_unit_test(pages_come_along_with_samples),
		cmocka_unit_test(pages_of_aarch64),
		cmocka_unit_test(a_sample_reads_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
