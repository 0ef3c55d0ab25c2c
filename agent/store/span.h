/* SPDX-License-Identifier: MIT */
/* The slices of a store that a range of time stands for. */
#ifndef SPAN_H
#define SPAN_H

#include <stddef.h>
#include <stdint.h>

struct store;

struct span {
	size_t first, end;		/* indices of slices: first <= i < end */
};

/*
 * A slice belongs to the range in which its middle lies. So adjacent ranges share no slice and miss none,
 * and a range keeps its place when slices become coarser. `to` = UINT64_MAX: up to the last slice.
 */
struct span span_find(const struct store *store, uint64_t from, uint64_t to);

/* The index of the first slice that ends after `time`; the number of slices, if there is none. */
size_t span_after(const struct store *store, uint64_t time);

#endif
