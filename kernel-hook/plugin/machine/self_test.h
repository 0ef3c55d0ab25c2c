/* SPDX-License-Identifier: MIT */
/*
 * Checks that QEMU's own functions do what we think they do. When a CPU is about to run a block of guest code, QEMU's
 * interface for plugins tells the block's address and bytes. The CPU's program counter and memory, as our functions
 * read them, have to agree with that.
 */
#ifndef PLUGIN_SELF_TEST_H
#define PLUGIN_SELF_TEST_H

#include <stdint.h>

#include "qemu.h"

struct qemu_plugin_tb;

struct self_test {
	const struct qemu *qemu;
	int api;			/* version of the interface for plugins */
	uint32_t agreed, other;		/* blocks so far */
};

enum self_test_result { SELF_TEST_GOES_ON, SELF_TEST_GOOD, SELF_TEST_BAD };

/* On the thread of the CPU that has just translated this block, and runs it next. */
enum self_test_result self_test_block(struct self_test *test, const struct qemu_plugin_tb *tb);

#endif
