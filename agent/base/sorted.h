/* SPDX-License-Identifier: MIT */
/* Tables that are sorted by a number: finding a row, and sorting. */
#ifndef SORTED_H
#define SORTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * How many of the rows have `key` or less; they are the first ones. A row has `size` bytes, and its number, a uint64_t,
 * at `offset` in it.
 */
static inline size_t sorted_upto(const void *rows, size_t count, size_t size, size_t offset, uint64_t key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t number;

		memcpy(&number, (const char *)rows + middle * size + offset, sizeof(number));
		if (number <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- radix: sorting by a number, digit by digit ---- */

enum { RADIX_BITS = 8, RADIX_DIGITS = 64 / RADIX_BITS, RADIX_BUCKETS = 1 << RADIX_BITS };

struct radix_item {
	uint64_t number;
	uint32_t index;			/* whatever the number belongs to */
};

static inline unsigned radix_digit(uint64_t number, unsigned digit)
{
	return (unsigned)(number >> digit * RADIX_BITS) & (RADIX_BUCKETS - 1);
}

static inline void radix_sort_digit(const struct radix_item *list, struct radix_item *to, size_t count, unsigned digit)
{
	size_t starts[RADIX_BUCKETS] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[radix_digit(list[i].number, digit)]++;
	for (size_t i = 0; i < RADIX_BUCKETS; i++) {
		size_t size = starts[i];

		starts[i] = sum;
		sum += size;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[radix_digit(list[i].number, digit)]++] = list[i];
}

/*
 * The smallest first; equal ones stay in their order. `other` is room for as many. Returns the one of the two that has
 * the result. Digits in which all agree cost nothing.
 */
static inline struct radix_item *radix_sort(struct radix_item *list, struct radix_item *other, size_t count)
{
	uint64_t differ = 0;

	for (size_t i = 0; i < count; i++)
		differ |= list[i].number ^ list[0].number;
	for (unsigned digit = 0; digit < RADIX_DIGITS; digit++) {
		struct radix_item *sorted = other;

		if (!radix_digit(differ, digit))
			continue;
		radix_sort_digit(list, sorted, count, digit);
		other = list;
		list = sorted;
	}
	return list;
}

#endif
