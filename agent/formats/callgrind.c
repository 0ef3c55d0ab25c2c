/* SPDX-License-Identifier: MIT */
/*
 * The profiles of callgrind, as callgrind_annotate and KCachegrind read them: for each function its own cost by source
 * line, and what its callees cost. A call that recurs in a stack counts once, at the caller that is nearest to the
 * root. How often a function was called is not known: the samples in which it was stand for it. An inlined function is
 * one that was called.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

/* ---- costs by three numbers ---- */

struct cost {
	uint32_t key[3];
	uint32_t stack;			/* the last stack that was added; SET_NONE: none was */
	uint64_t samples, ns;
};

struct cost_table {
	struct hash index;
	struct cost *costs;
	uint32_t count, room;
};

static void cost_table_init(struct cost_table *table)
{
	*table = (struct cost_table) { 0 };
	hash_init(&table->index, NULL);
}

static void cost_table_clear(struct cost_table *table)
{
	hash_clear(&table->index);
	free(table->costs);
	table->costs = NULL;
	table->count = table->room = 0;
}

/* The cost of these numbers; a new one is 0. It stays where it is until the next call. NULL: no memory. */
static struct cost *cost_table_at(struct cost_table *table, uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t value = hash_pair(&table->index, (uint64_t)a << 32 | b, c);
	uint32_t at = 0, position;
	struct cost *costs;

	while ((position = hash_next(&table->index, value, &at)) != HASH_NONE) {
		struct cost *cost = &table->costs[position];

		if (cost->key[0] == a && cost->key[1] == b && cost->key[2] == c)
			return cost;
	}
	costs = budget_array(NULL, table->costs, table->count, &table->room, sizeof(*costs));
	if (!costs)
		return NULL;
	table->costs = costs;
	if (!hash_add(&table->index, value, table->count))
		return NULL;
	costs[table->count] = (struct cost) { .key = { a, b, c }, .stack = SET_NONE };
	return &costs[table->count++];
}

static int cost_compare(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;

	for (unsigned i = 0; i < 3; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

/* By their numbers. Then no more of them are made. */
static void cost_table_sort(struct cost_table *table)
{
	if (table->count)
		qsort(table->costs, table->count, sizeof(*table->costs), cost_compare);
}

/* ---- adding up ---- */

struct callgrind {
	const struct sample_set *set;
	const struct set_writing *writing;
	struct frame_list frames;
	struct cost_table own;		/* by function and line */
	struct cost_table calls;	/* by caller, callee, and line in the caller */
	struct cost_table pairs;	/* by caller and callee: in which sum a call came last */
};

static bool add(struct cost *cost, const struct set_sum *sum)
{
	if (!cost)
		return false;
	cost->samples += sum->samples;
	cost->ns += sum->ns;
	return true;
}

/* `index`: of the sum. */
static bool add_call(struct callgrind *callgrind, const struct set_line *caller, uint32_t callee, uint32_t index)
{
	struct cost *pair = cost_table_at(&callgrind->pairs, caller->function, callee, 0);

	if (!pair || pair->stack == index)
		return pair;
	pair->stack = index;
	return add(
		cost_table_at(&callgrind->calls, caller->function, callee, caller->line), &callgrind->set->sums[index]);
}

static bool add_sum(struct callgrind *callgrind, uint32_t index)
{
	const struct set_sum *sum = &callgrind->set->sums[index];
	const struct set_line *frames;
	uint32_t leaf;

	frame_list_read(&callgrind->frames, callgrind->set, sum->stack);
	frames = callgrind->frames.frames;
	leaf = callgrind->frames.count - 1;
	for (uint32_t i = 0; i < leaf; i++)
		if (!add_call(callgrind, &frames[i], frames[i + 1].function, index))
			return false;
	return add(cost_table_at(&callgrind->own, frames[leaf].function, frames[leaf].line, 0), sum);
}

static bool add_up(struct callgrind *callgrind)
{
	uint32_t count = callgrind->set->sum_count;

	for (uint32_t i = 0; i < count && !set_writing_step(callgrind->writing, i, count); i++)
		if (!add_sum(callgrind, i))
			return false;
	cost_table_sort(&callgrind->own);
	cost_table_sort(&callgrind->calls);
	return true;
}

/* ---- the file ---- */

static void put_name(FILE *to, const char *kind, uint32_t function, const char *name, const char *otherwise)
{
	fprintf(to, "%s=(%" PRIu32 ") ", kind, function + 1);
	name_text_put(to, *name ? name : otherwise, "");
	putc('\n', to);
}

/* Tells all names with their numbers. What follows has the numbers alone. */
static void put_names(FILE *to, const struct sample_set *set)
{
	for (uint32_t i = 0; i < set->function_count; i++) {
		const struct set_function *function = &set->functions[i];

		put_name(to, "ob", i, function->object, "???");
		put_name(to, "fl", i, function->file, "???");
		put_name(to, "fn", i, function->name, "???");
	}
}

static void put_cost(FILE *to, uint32_t line, const struct cost *cost)
{
	fprintf(to, "%" PRIu32 " %" PRIu64 " %" PRIu64 "\n", line, cost->samples, cost->ns);
}

static void put_call(FILE *to, const struct sample_set *set, const struct cost *call)
{
	uint32_t callee = call->key[1];

	fprintf(to, "cob=(%" PRIu32 ")\ncfl=(%" PRIu32 ")\ncfn=(%" PRIu32 ")\n", callee + 1, callee + 1, callee + 1);
	fprintf(to, "calls=%" PRIu64 " %" PRIu32 "\n", call->samples, set->functions[callee].line);
	put_cost(to, call->key[2], call);
}

/* Both tables are sorted by function. */
static void put_functions(FILE *to, const struct callgrind *callgrind)
{
	const struct cost *own = callgrind->own.costs, *own_end = own + callgrind->own.count;
	const struct cost *call = callgrind->calls.costs, *call_end = call + callgrind->calls.count;

	for (uint32_t i = 0; i < callgrind->set->function_count; i++) {
		fprintf(to, "\nob=(%" PRIu32 ")\nfl=(%" PRIu32 ")\nfn=(%" PRIu32 ")\n", i + 1, i + 1, i + 1);
		for (; own < own_end && own->key[0] == i; own++)
			put_cost(to, own->key[1], own);
		for (; call < call_end && call->key[0] == i; call++)
			put_call(to, callgrind->set, call);
	}
}

static void put_file(const struct callgrind *callgrind)
{
	const struct sample_set *set = callgrind->set;
	FILE *to = callgrind->writing->to;

	fputs("# callgrind format\nversion: 1\ncreator: ktop\ncmd: ", to);
	name_text_put(to, *callgrind->writing->title ? callgrind->writing->title : "guest", "");
	fputs("\npositions: line\n", to);
	fprintf(to, "events: %s %s\n", "Samples", "Ns");
	fprintf(to, "summary: %" PRIu64 " %" PRIu64 "\n\n", set->samples, set->ns);
	put_names(to, set);
	put_functions(to, callgrind);
	fprintf(to, "\ntotals: %" PRIu64 " %" PRIu64 "\n", set->samples, set->ns);
}

static bool write_callgrind(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct callgrind callgrind = { .set = set, .writing = writing };
	bool whole;

	cost_table_init(&callgrind.own);
	cost_table_init(&callgrind.calls);
	cost_table_init(&callgrind.pairs);
	whole = add_up(&callgrind);
	if (whole)
		put_file(&callgrind);
	frame_list_clear(&callgrind.frames);
	cost_table_clear(&callgrind.own);
	cost_table_clear(&callgrind.calls);
	cost_table_clear(&callgrind.pairs);
	return whole || util_fail(error, "%s", sample_set_no_memory);
}

const struct set_format format_callgrind = {
	.name = "callgrind",
	.ending = ".callgrind",
	.about = "profile for callgrind_annotate and KCachegrind",
	.lines = true,
	.write = write_callgrind,
};
