/* SPDX-License-Identifier: MIT */
/* A hook with a host that is told its meta events. */
#ifndef TOLD_H
#define TOLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "hosted.h"

static const uint8_t build_id[20] = "0123456789abcdefghi";

/* The facts that the kernel gives. */
static struct ktop_symbol functions[4];

static inline bool function_after(uint64_t from, struct ktop_symbol *symbol)
{
	for (int i = 0; i < 4; i++) {
		*symbol = functions[i];
		if (functions[i].address + functions[i].size > from)
			return true;
	}
	return false;
}

static inline bool number_at(uint32_t index, struct ktop_number *number)
{
	static const struct ktop_number numbers[] = {
		{ KTOP_EVENT_syscall_enter, 38, "read", "s32 file;u64 size;" },
		{ KTOP_EVENT_syscall_enter, 39, "getpid", "" }, { KTOP_EVENT_syscall_enter, 40, NULL, "u8 none;" },
		{ KTOP_EVENT_irq_enter, 1ull << 40, "disk", NULL },
	};

	if (index < 4)
		*number = numbers[index];
	return index < 4;
}

static inline int set_up(void **state)
{
	struct ktop_facts facts = {
		.kernel = "demo",
		.version = "0.1",
		.arch = "x86_64",
		.boot_id = { 0xb0 },
		.cpus = 2,
		.clock_hz = 1000000,
		.epoch_ns = 77,
		.anchor = "kernel_main",
		.anchor_address = 0xffffffff80001000,
		.build_id = build_id,
		.build_id_size = sizeof(build_id),
		.symbols = function_after,
		.numbers = number_at,
	};
	struct ktop_settings settings = { .ring_size = KTOP_RING_MIN };
	size_t size = ktop_memory_size(2, &settings);

	(void)state;
	memset(functions, 0, sizeof(functions));
	fake_port_reset();
	host = fake_host_new();
	ktop = ktop_init(&facts, &settings, &host->transport, aligned_alloc(64, size), size);
	fake_host_connect(host);
	return ktop == NULL;
}

/* Everything that a new host receives. */
static inline void reconnect(void)
{
	host->connected = false;
	ktop_drain(ktop);
	fake_host_forget(host);
	fake_host_connect(host);
	settle();
}

#endif
