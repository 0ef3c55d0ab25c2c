/* SPDX-License-Identifier: MIT */
/* Awaits, with a bound, what other threads read. */
#ifndef SETTLE_H
#define SETTLE_H

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"

/* Returns once the file of each mapped program was read, or was not found. */
static inline void settle(struct symbols *symbols)
{
	uint64_t late = util_now() + 60 * NS_PER_SECOND;
	bool starved = false;

	for (symbols_step(symbols, &starved); symbols_reading(symbols); symbols_step(symbols, &starved)) {
		assert_true(util_now() < late);
		poll(NULL, 0, 1);
	}
}

static inline const char *await_line(struct symbols *symbols, uint32_t function)
{
	uint64_t late = util_now() + 60 * NS_PER_SECOND;
	const char *line;

	for (; !(line = symbols_line(symbols, function)); poll(NULL, 0, 1))
		assert_true(util_now() < late);
	return line;
}

static inline const char *note_of(struct symbols *symbols)
{
	uint64_t told;

	return symbols_note(symbols, &told);
}

#endif
