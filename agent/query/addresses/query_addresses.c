/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "query_addresses.h"

struct tally {
	struct window *window;
	const uint32_t *functions;
	size_t function_count;
	struct address_sums sums;
	size_t room;
	struct hash by_address;
};

static bool is_wanted(const struct tally *tally, uint32_t function)
{
	for (size_t i = 0; i < tally->function_count; i++)
		if (tally->functions[i] == function)
			return true;
	return false;
}

/* NULL: there is no room. */
static struct address_sum *have_sum(struct tally *tally, const struct node *node, uint32_t function)
{
	uint64_t value = hash_pair(&tally->by_address, node->address, node->space);
	struct address_sums *sums = &tally->sums;
	uint32_t at = 0, position;

	while ((position = hash_next(&tally->by_address, value, &at)) != HASH_NONE)
		if (sums->sums[position].address == node->address && sums->sums[position].space == node->space)
			return &sums->sums[position];
	if (sums->count == ADDRESSES_MAX || !hash_add(&tally->by_address, value, (uint32_t)sums->count))
		return NULL;
	if (sums->count == tally->room) {
		tally->room = 2 * tally->room + 64;
		sums->sums = util_grow(sums->sums, tally->room, sizeof(*sums->sums));
	}
	sums->sums[sums->count] = (struct address_sum) {
		.address = node->address, .space = node->space, .function = function,
	};
	return &sums->sums[sums->count++];
}

static void add_stack(struct tally *tally, const struct run_count *count, uint32_t function)
{
	struct node node = stacks_node(tally->window->inputs.stacks, count->stack);
	struct address_sum *sum = have_sum(tally, &node, function);

	tally->sums.self += count->weight;
	tally->sums.self_samples += count->samples;
	if (!sum) {
		tally->sums.left_out += count->weight;
		return;
	}
	sum->weight += count->weight;
	sum->samples += count->samples;
}

/* Returns the weight that passes. */
static uint64_t add_run(struct tally *tally, const struct passing *passing, const struct run *run)
{
	struct passing_reader reader;
	struct run_count count;
	const struct who *who;
	uint64_t weight = 0;

	passing_begin(&reader, passing, run);
	while (passing_next(&reader, &count, &who)) {
		weight += count.weight;
		tally->sums.samples += count.samples;
		tally->sums.mode[who->mode] += count.weight;
		if (who->mode != MODE_IDLE && count.stack != STACKS_NONE &&
				is_wanted(tally, passing->functions[count.stack]))
			add_stack(tally, &count, passing->functions[count.stack]);
	}
	passing_end(&reader);
	return weight;
}

static int heavier(const void *left, const void *right)
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
	struct tally tally = {
		.window = window, .functions = functions,
		.function_count = count < ADDRESS_FUNCTIONS ? count : ADDRESS_FUNCTIONS,
	};
	struct passing passing;
	struct range range;

	window_look(window, question);
	hash_init(&tally.by_address, NULL);
	passing = window_passing(window);
	for (size_t i = window->span.first; i < window->span.end && !stop_now(window->stop); i++) {
		struct slice slice = store_slice(window->inputs.store, i);
		uint64_t weight = 0;

		for (size_t k = 0; k < slice.run_count; k++)
			weight += add_run(&tally, &passing, slice.runs[k]);
		tally.sums.weight += weight;
		tally.sums.time += weight * slice.period;
	}
	hash_clear(&tally.by_address);
	if (tally.sums.count)
		qsort(tally.sums.sums, tally.sums.count, sizeof(*tally.sums.sums), heavier);
	range = window_range(window);
	tally.sums.from = range.from;
	tally.sums.to = range.to;
	return tally.sums;
}

void address_sums_clear(struct address_sums *sums)
{
	free(sums->sums);
	*sums = (struct address_sums) { .count = 0 };
}
