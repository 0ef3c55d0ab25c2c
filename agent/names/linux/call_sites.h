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

/* Of the code between two link addresses. NULL: it is not there, no memory is, or calls are not known of that CPU. */
struct call_sites *call_sites_new(const struct kernel_bytes *kernel, uint64_t start, uint64_t end,
	struct budget *budget);
void call_sites_free(struct call_sites *sites);	/* NULL is allowed */

/*
 * The one slide, a multiple of `step`, by which these return addresses become call sites, but for a few. Addresses of
 * other code, such as modules', may be among them. False: they are too few to be sure, or more than one slide would do.
 */
bool call_sites_slide(const struct call_sites *sites, const uint64_t *returns, size_t count, uint64_t step,
	uint64_t *slide);

#endif
