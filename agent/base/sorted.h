/* SPDX-License-Identifier: MIT */
/* Finding a row in a table that is sorted by a number. */
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

#endif
