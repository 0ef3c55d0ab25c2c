/* SPDX-License-Identifier: MIT */
/* Never ends: it does a little work fifty times a second. */
#include <stdint.h>

#include "ports/demo/machine/time.h"
#include "program.h"

static uint64_t beat(uint64_t state)
{
	for (uint32_t i = 0; i < 20000; i++)
		state = state * 6364136223846793005 + 1442695040888963407;
	return state;
}

int64_t main(uint64_t argument)
{
	for (;;) {
		argument = beat(argument);
		program_sleep(20 * NS_PER_MS);
	}
}
