/* SPDX-License-Identifier: MIT */
/*
 * Do QEMU's own functions mean what we take them to mean? The interface for plugins says where a block of guest code
 * begins that a CPU is about to run, and what stands there: its program counter and its memory have to agree.
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

/* On a CPU's thread, of a block that it has translated to run it. */
enum self_test_result self_test_block(struct self_test *test, const struct qemu_plugin_tb *tb);

#endif
