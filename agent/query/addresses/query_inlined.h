/* SPDX-License-Identifier: MIT */
/* What was inlined in a function, where it ran. */
#ifndef QUERY_INLINED_H
#define QUERY_INLINED_H

#include <stddef.h>
#include <stdint.h>

struct caller;
struct query;
struct question;

/*
 * What was inlined at the leaf addresses of this function: the innermost inlined function at each, heaviest
 * first, as far as it is known. `whole` is the weight that was looked at: the newest of the range, 20,000 counts
 * of the store at most. Returns how many of `size` were written.
 */
size_t query_inlined(struct query *query, const struct question *question, uint32_t function,
	struct caller *inlined, size_t size, uint64_t *whole);

#endif
