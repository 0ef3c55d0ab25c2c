/* SPDX-License-Identifier: MIT */
/* Which slices of a store a range of time means. */
#ifndef SPAN_H
#define SPAN_H

#include <stddef.h>
#include <stdint.h>

struct store;

struct span {
	size_t first, end;		/* indices of slices: first <= i < end */
};

/*
 * A slice belongs to the range in which its middle lies: adjacent ranges share no slice and miss
 * none, and a range keeps its place when slices become coarser. `to` = UINT64_MAX: up to the last.
 */
struct span span_find(const struct store *store, uint64_t from, uint64_t to);

/* The first slice that ends after this time. */
size_t span_after(const struct store *store, uint64_t time);

#endif
