/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "budget.h"
#include "util.h"

/*
 * Bytes. A block of LARGE goes back to the system when it is freed. Smaller ones leave holes among those that stay:
 * with LARGE at a mebibyte, a tenth of all memory was such holes, since slices are merged into ever larger ones.
 */
enum { LARGE = 128 << 10, TOP = 1 << 20 };

struct budget {
	size_t limit;			/* bytes */
	atomic_size_t used;
	atomic_uint_fast64_t refused;	/* how often */
	atomic_uint holders;
};

struct budget *budget_new(size_t mib)
{
	struct budget *budget = util_alloc(sizeof(*budget));

	budget->limit = mib << 20;
	atomic_init(&budget->used, BUDGET_BASE);
	atomic_init(&budget->holders, 1);
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, TOP);
	mallopt(M_TOP_PAD, TOP);
	mallopt(M_ARENA_MAX, 1);
	return budget;
}

struct budget *budget_hold(struct budget *budget)
{
	if (budget)
		atomic_fetch_add_explicit(&budget->holders, 1, memory_order_relaxed);
	return budget;
}

void budget_release(struct budget *budget)
{
	/* Released by each holder, acquired by the last one, who frees what all of them have used. */
	if (budget && atomic_fetch_sub_explicit(&budget->holders, 1, memory_order_acq_rel) == 1)
		free(budget);
}

static void refuse(struct budget *budget)
{
	if (budget)
		atomic_fetch_add_explicit(&budget->refused, 1, memory_order_relaxed);
}

bool budget_take(struct budget *budget, size_t bytes)
{
	size_t used = budget ? atomic_load_explicit(&budget->used, memory_order_relaxed) : 0;

	if (!budget)
		return true;
	do {
		if (used > budget->limit || bytes > budget->limit - used) {
			refuse(budget);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
			memory_order_relaxed, memory_order_relaxed));
	return true;
}

void budget_charge(struct budget *budget, size_t bytes)
{
	if (budget)
		atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
}

void budget_give(struct budget *budget, size_t bytes)
{
	if (budget)
		atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

size_t budget_left(const struct budget *budget)
{
	size_t used = budget ? atomic_load_explicit(&budget->used, memory_order_relaxed) : 0;

	if (!budget)
		return SIZE_MAX;
	return used < budget->limit ? budget->limit - used : 0;
}

uint64_t budget_refused(const struct budget *budget)
{
	return budget ? atomic_load_explicit(&budget->refused, memory_order_relaxed) : 0;
}

size_t budget_share(const struct budget *budget, size_t divisor)
{
	return budget ? budget->limit / divisor : SIZE_MAX;
}

void *budget_resize(struct budget *budget, void *memory, size_t old, size_t size)
{
	void *moved;

	if (!budget_take(budget, size))
		return NULL;
	moved = realloc(memory, size ? size : 1);
	if (!moved)
		refuse(budget);
	budget_give(budget, moved ? old : size);
	return moved;
}

void *budget_trim(struct budget *budget, void *memory, size_t old, size_t size)
{
	void *moved = realloc(memory, size ? size : 1);

	budget_give(budget, old - size);
	return moved ? moved : memory;
}

void *budget_array(struct budget *budget, void *array, size_t count, uint32_t *room, size_t size)
{
	uint32_t more = 2 * *room + 32;

	if (count < *room)
		return array;
	array = budget_resize(budget, array, *room * size, more * size);
	if (array)
		*room = more;
	return array;
}

void budget_free(struct budget *budget, void *memory, size_t size)
{
	free(memory);
	budget_give(budget, size);
}
