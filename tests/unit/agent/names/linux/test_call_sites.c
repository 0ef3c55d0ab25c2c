/* SPDX-License-Identifier: MIT */
/* Where a kernel runs, by the return addresses of its stacks alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/linux/call_sites.h"
#include "agent/names/linux/kernel_bytes.h"
#include "tests/unit/fakes/random.h"

#define START UINT64_C(0xffff800008010000)
#define SLIDE UINT64_C(0x37cc00000)

enum {
	SIZE = 8 << 20, STEP = 2 << 20, RETURNS = 24, CALLS_EACH = 16,	/* one instruction of 16 is a call */
	NOP = 0x90,			/* of x86, where zeros are two bytes long */
};

struct world {
	uint8_t *code;
	struct kernel_bytes kernel;
	struct call_sites *sites;
	uint64_t returns[RETURNS];	/* run addresses */
	struct random random;
};

static void put_call(struct world *world, size_t at)
{
	const uint32_t call = world->kernel.arch == ARCH_AARCH64 ? 0x94000123 :
		world->kernel.arch == ARCH_RISCV64 ? 0x123000ef : 0x000010e8;

	for (int i = 0; i < 4; i++)
		world->code[at + (size_t)i] = (uint8_t)(call >> (8 * i));
}

static void make(struct world *world, enum arch_id arch)
{
	size_t behind = arch == ARCH_AARCH64 || arch == ARCH_RISCV64 ? 4 : 5;

	memset(world, 0, sizeof(*world));
	world->random.state = 1;
	world->code = memset(util_alloc(SIZE), behind == 5 ? NOP : 0, SIZE);
	world->kernel = (struct kernel_bytes) { .bytes = world->code, .size = SIZE, .arch = arch };
	kernel_bytes_place(&world->kernel, START);
	for (size_t at = 0; at + 16 < SIZE; at += 8) {
		if (random_below(&world->random, CALLS_EACH) == 0)
			put_call(world, at);
	}
	for (size_t i = 0; i < RETURNS; i++) {
		size_t at = random_below(&world->random, SIZE / 8 - 2) * 8;

		put_call(world, at);
		world->returns[i] = START + SLIDE + at + behind;
	}
	world->sites = call_sites_new(&world->kernel, START, START + SIZE, NULL);
	assert_non_null(world->sites);
}

static void drop(struct world *world)
{
	call_sites_free(world->sites);
	free(world->code);
}

static void return_addresses_tell(void **state)
{
	static const enum arch_id archs[] = { ARCH_AARCH64, ARCH_X86_64, ARCH_I386, ARCH_RISCV64 };

	(void)state;
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
		struct world world;
		uint64_t slide = 0;

		make(&world, archs[i]);
		assert_true(call_sites_slide(world.sites, world.returns, RETURNS, STEP, &slide));
		assert_true(slide == SLIDE);
		/* Those of a module are in the way of nothing. */
		for (size_t k = 0; k < 6; k++)
			world.returns[k] = UINT64_C(0xffff800000100000) + 64 * k;
		slide = 0;
		assert_true(call_sites_slide(world.sites, world.returns, RETURNS, STEP, &slide));
		assert_true(slide == SLIDE);
		drop(&world);
	}
}

static void what_is_not_sure_is_not_believed(void **state)
{
	struct world world;
	uint64_t slide = 1;

	(void)state;
	make(&world, ARCH_AARCH64);
	assert_false(call_sites_slide(world.sites, world.returns, 15, STEP, &slide));
	assert_false(call_sites_slide(world.sites, world.returns, 0, STEP, &slide));
	for (size_t i = 0; i < RETURNS; i += 4)
		world.returns[i] += 4;		/* one of four is no call site */
	assert_false(call_sites_slide(world.sites, world.returns, RETURNS, STEP, &slide));
	for (size_t i = 0; i < RETURNS; i++)
		world.returns[i] = 0x400000 + 4 * i;
	assert_false(call_sites_slide(world.sites, world.returns, RETURNS, STEP, &slide));
	assert_int_equal(slide, 1);
	drop(&world);
	/* All of it is calls: any slide would do. */
	make(&world, ARCH_AARCH64);
	call_sites_free(world.sites);
	for (size_t at = 0; at < SIZE; at += 4)
		put_call(&world, at);
	world.sites = call_sites_new(&world.kernel, START, START + SIZE, NULL);
	assert_false(call_sites_slide(world.sites, world.returns, RETURNS, STEP, &slide));
	drop(&world);
}

static void other_kernels_have_none(void **state)
{
	struct world world;

	(void)state;
	make(&world, ARCH_AARCH64);
	assert_null(call_sites_new(&world.kernel, START, START + SIZE + 1, NULL));
	assert_null(call_sites_new(&world.kernel, START, START, NULL));
	world.kernel.arch = ARCH_OTHER;
	assert_null(call_sites_new(&world.kernel, START, START + SIZE, NULL));
	call_sites_free(NULL);
	drop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(return_addresses_tell),
		cmocka_unit_test(what_is_not_sure_is_not_believed),
		cmocka_unit_test(other_kernels_have_none),
	};

	return cmocka_run_group_tests_name("call_sites", tests, NULL, NULL);
}
