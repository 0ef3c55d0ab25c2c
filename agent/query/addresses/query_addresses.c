/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "query_addresses.h"

static bool is_wanted(const uint32_t *functions, size_t count, uint32_t function)
{
	for (size_t i = 0; functions && i < count; i++)
		if (functions[i] == function)
			return true;
	return !functions;
}

/* Several nodes may have one address: each of its callers has one. NULL: there is no room for it. */
static struct address_sum *have_sum(struct address_sums *sums, size_t *room, struct hash *by_address,
	const struct node *node, uint32_t function)
{
	uint64_t value = hash_pair(by_address, node->address, node->space);
	uint32_t at = 0, position;

	while ((position = hash_next(by_address, value, &at)) != HASH_NONE)
		if (sums->sums[position].address == node->address && sums->sums[position].space == node->space)
			return &sums->sums[position];
	if (sums->count == ADDRESSES_MAX || !hash_add(by_address, value, (uint32_t)sums->count))
		return NULL;
	if (sums->count == *room) {
		*room = 2 * *room + 64;
		sums->sums = util_grow(sums->sums, *room, sizeof(*sums->sums));
	}
	sums->sums[sums->count] = (struct address_sum) {
		.address = node->address, .space = node->space, .function = function,
	};
	return &sums->sums[sums->count++];
}

static int heavier_sum(const void *left, const void *right)
{
	const struct address_sum *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->address > b->address) - (a->address < b->address);
}

struct address_sums query_addresses(struct query *query, const struct question *question, const uint32_t *functions,
	size_t count)
{
	struct window *window = &query_reader(query, question)->window;
	const struct node *nodes = stacks_list(query->inputs.stacks);
	struct scan *scan;
	struct address_sums sums = { .count = 0 };
	struct hash by_address;
	struct range range;
	size_t room = 0;

	window_look(window, question);
	scan = query_scan(query, window, false);
	scan_own(scan, window, false);
	hash_init(&by_address, NULL);
	count = count < ADDRESS_FUNCTIONS ? count : ADDRESS_FUNCTIONS;
	for (uint32_t at = 0; at < scan->ran_count; at++) {
		uint32_t i = scan->ran[at], function = i < SCAN_NODES ? 0 : window->nodes->functions[i - SCAN_NODES];
		struct address_sum *sum;

		if (i < SCAN_NODES || !is_wanted(functions, count, function))
			continue;
		sums.self += scan->own[i].weight;
		sums.self_samples += scan->own[i].samples;
		sum = have_sum(&sums, &room, &by_address, &nodes[i - SCAN_NODES], function);
		if (!sum) {
			sums.left_out += scan->own[i].weight;
			continue;
		}
		sum->weight += scan->own[i].weight;
		sum->samples += scan->own[i].samples;
	}
	hash_clear(&by_address);
	if (sums.count)
		qsort(sums.sums, sums.count, sizeof(*sums.sums), heavier_sum);
	range = window_range(window);
	sums.from = range.from;
	sums.to = range.to;
	sums.weight = scan->whole.weight;
	sums.samples = scan->whole.samples;
	sums.time = scan->whole.time;
	memcpy(sums.mode, scan->whole.mode, sizeof(sums.mode));
	return sums;
}

void address_sums_clear(struct address_sums *sums)
{
	free(sums->sums);
	*sums = (struct address_sums) { .count = 0 };
}

/* ---- what was inlined ---- */

enum { KINDS_MAX = 64 };		/* inlined functions that one answer tells apart */

/* The innermost inlined function at an address. FUNCTION_NONE: nothing is inlined there, or it is not known yet. */
static uint32_t innermost(struct symbols *symbols, const struct address_sum *sum)
{
	struct inlined inlined;

	if (!symbols_inlined(symbols, sum->space, sum->address, &inlined) || inlined.count == 0)
		return FUNCTION_NONE;
	return inlined.functions[inlined.count - 1];
}

static int heavier_caller(const void *left, const void *right)
{
	const struct caller *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

size_t query_inlined(struct query *query, const struct question *question, uint32_t function,
	struct caller *inlined, size_t size, uint64_t *whole)
{
	struct address_sums sums = query_addresses(query, question, &function, 1);
	struct caller kinds[KINDS_MAX];
	size_t count = 0, at;

	for (size_t i = 0; i < sums.count; i++) {
		uint32_t inner = innermost(query->inputs.symbols, &sums.sums[i]);

		for (at = 0; at < count && kinds[at].function != inner; at++)
			;
		if (inner == FUNCTION_NONE || at == KINDS_MAX)
			continue;
		if (at == count)
			kinds[count++] = (struct caller) { .function = inner };
		kinds[at].weight += sums.sums[i].weight;
	}
	*whole = sums.self;
	address_sums_clear(&sums);
	qsort(kinds, count, sizeof(*kinds), heavier_caller);
	count = count < size ? count : size;
	memcpy(inlined, kinds, count * sizeof(*kinds));
	return count;
}
