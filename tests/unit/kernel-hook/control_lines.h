/* SPDX-License-Identifier: MIT */
/* A hook that is given control lines, and what it answers. */
#ifndef CONTROL_LINES_H
#define CONTROL_LINES_H

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
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "hosted.h"

enum { CPUS = 4, HZ = 1000000 };

static inline void boot_with(const struct ktop_facts *facts)
{
	struct ktop_settings settings = { .ring_size = KTOP_RING_MIN };
	size_t size = ktop_memory_size(facts->cpus, &settings);

	free(ktop);
	ktop = ktop_init(facts, &settings, &host->transport, aligned_alloc(64, size), size);
	assert_non_null(ktop);
}

static inline void boot(uint32_t cpus)
{
	boot_with(&(struct ktop_facts) { .cpus = cpus, .boot_id = { 0xb0 }, .clock_hz = HZ });
}

static inline int set_up(void **state)
{
	(void)state;
	fake_port_reset();
	host = fake_host_new();
	ktop = NULL;
	boot(CPUS);
	fake_host_connect(host);
	return 0;
}

/* The reply to one line. `ok`: the line was understood and done. */
static inline const char *say(const char *line, bool *ok)
{
	fake_host_forget(host);
	host->input = line;
	settle();
	assert_string_equal(host->input, "");
	assert_int_equal(fake_host_count(host, KTOP_EVENT_reply), 1);
	*ok = fake_host_last(host, KTOP_EVENT_reply)->payload[0];
	return fake_text(fake_host_last(host, KTOP_EVENT_reply), 1, 0);
}

static inline void done(const char *line, const char *answer)
{
	bool ok;

	assert_string_equal(say(line, &ok), answer);
	assert_true(ok);
}

static inline void refused(const char *line, const char *answer)
{
	bool ok;

	assert_string_equal(say(line, &ok), answer);
	assert_false(ok);
}

static struct ktop_wire_status status(void)
{
	struct ktop_wire_status status;

	assert_non_null(fake_host_last(host, KTOP_EVENT_status));
	memcpy(&status, fake_host_last(host, KTOP_EVENT_status)->payload, sizeof(status));
	return status;
}

#endif
