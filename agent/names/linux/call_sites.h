/* SPDX-License-Identifier: MIT */
/*
 * The places in a kernel's code that calls return to. Return addresses of sampled stacks have to be such places. So
 * they tell where the kernel runs, when nothing of its memory can be read. Made once, then only read, by any thread.
 */
#ifndef CALL_SITES_H
#define CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct call_sites;
struct kernel_bytes;

/*
 * Finds the call sites of the code between two link addresses. NULL: the bytes do not have that code, ktop does not
 * know the calls of that CPU, or there is no memory.
 */
struct call_sites *call_sites_new(const struct kernel_bytes *kernel, uint64_t start, uint64_t end,
	struct budget *budget);
void call_sites_free(struct call_sites *sites);	/* NULL is allowed */

/*
 * Finds the slide, a multiple of `step`: with the right one, nearly all return addresses that lie in this code are call
 * sites. Addresses of other code, such as modules', may be among them. False: they are too few to be sure, or more
 * than one slide fits.
 */
bool call_sites_slide(const struct call_sites *sites, const uint64_t *returns, size_t count, uint64_t step,
	uint64_t *slide);

#endif
