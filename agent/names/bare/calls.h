/* SPDX-License-Identifier: MIT */
/*
 * Calls in machine code, which may be any bytes: what a return address has before it, what a call comes back to, and
 * where a called function has laid its frame.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

enum { CALLS_BEFORE = 10, CALLS_BEHIND = 16 };	/* bytes around a return address that tell all */

/*
 * May a call, or a signal's frame, have left `address` on the stack? `bytes`: the code from `before` bytes before it
 * on; it may be cut on both sides. `*target`: what a direct call names; 0: another one. An architecture that is not
 * known: true.
 */
bool calls_return(enum arch_id arch, const uint8_t *bytes, size_t before, size_t size, uint64_t address,
	uint64_t *target);

/*
 * What follows the instruction at `address`, for code that leaves an interrupt. True: it does. False: it does not, if
 * `*next` is 0; else the code goes on at `*next`.
 */
bool calls_leave_interrupt(enum arch_id arch, const uint8_t *bytes, size_t size, uint64_t address, uint64_t *next);

/* What the frame pointer is for code that was interrupted at an address of its function. */
enum calls_frame {
	CALLS_FRAME_UNKNOWN,
	CALLS_FRAME_LAID,		/* the function's own */
	CALLS_FRAME_NONE,		/* its caller's: the function has not laid its frame, or lays none */
	CALLS_FRAME_LEFT,		/* x86: likewise; the return address is on top of the stack */
};

/* `bytes`: the code of the function, from its start on. `at`: how far from there it was interrupted. */
enum calls_frame calls_frame(enum arch_id arch, const uint8_t *bytes, size_t size, size_t at);

#endif
