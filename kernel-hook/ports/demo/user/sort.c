/* SPDX-License-Identifier: MIT */
/* Fills an array, sorts it, and checks that it is sorted. */
#include <stdbool.h>
#include <stdint.h>

#include "program.h"

static void fill(uint32_t *array, uint64_t count)
{
	uint32_t value = program_process();

	for (uint64_t i = 0; i < count; i++)
		array[i] = value = value * 1664525 + 1013904223;
}

static void merge(const uint32_t *from, uint32_t *to, uint64_t half, uint64_t count)
{
	uint64_t left = 0, right = half;

	for (uint64_t i = 0; i < count; i++) {
		bool take_left = right == count || (left < half && from[left] <= from[right]);

		to[i] = take_left ? from[left++] : from[right++];
	}
}

static void copy(const uint32_t *from, uint32_t *to, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		to[i] = from[i];
}

static void merge_sort(uint32_t *array, uint32_t *room, uint64_t count)
{
	if (count < 2)
		return;
	merge_sort(array, room, count / 2);
	merge_sort(array + count / 2, room, count - count / 2);
	merge(array, room, count / 2, count);
	copy(room, array, count);
}

static bool is_sorted(const uint32_t *array, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++) {
		if (array[i - 1] > array[i])
			return false;
	}
	return true;
}

int64_t main(uint64_t argument)
{
	uint32_t *array = program_map(2 * argument * sizeof(*array));

	fill(array, argument);
	program_yield();
	merge_sort(array, array + argument, argument);
	program_mark("sorted", sizeof("sorted") - 1);
	return !is_sorted(array, argument);
}
