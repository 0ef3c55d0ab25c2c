/* SPDX-License-Identifier: MIT */
/* Where in its code a function ran: its samples by address; and what was inlined there. */
#ifndef QUERY_ADDRESSES_H
#define QUERY_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct caller;
struct query;
struct question;

enum { ADDRESSES_MAX = 1 << 16, ADDRESS_FUNCTIONS = 16 };

struct address_sum {
	uint64_t address;		/* a run address */
	uint32_t space;			/* of it (symbols.h) */
	uint32_t function;		/* the one of those that were asked about */
	uint64_t weight, samples;
};

struct address_sums {
	struct address_sum *sums;	/* heaviest first */
	size_t count;
	uint64_t self, self_samples;	/* of these functions: all addresses */
	uint64_t left_out;		/* the weight at addresses that found no room */
	uint64_t weight, samples;	/* of all that passes the filter */
	uint64_t mode[MODES];
	uint64_t time;			/* the ns of CPU behind the weight, where the period was known */
	uint64_t from, to;		/* as in struct table (agent/query/table.h) */
};

/* Sums up for `count` functions, ADDRESS_FUNCTIONS at most; NULL: for all. The caller clears the result. */
struct address_sums query_addresses(struct query *query, const struct question *question, const uint32_t *functions,
	size_t count);
void address_sums_clear(struct address_sums *sums);

/*
 * What was inlined at the leaf addresses of this function: the innermost inlined function at each, heaviest first, as
 * far as it is known. `whole` is the weight at these addresses. Returns how many of `size` were written.
 */
size_t query_inlined(struct query *query, const struct question *question, uint32_t function,
	struct caller *inlined, size_t size, uint64_t *whole);

#endif
