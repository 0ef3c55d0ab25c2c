/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "match.h"
#include "query.h"
#include "query_state.h"
#include "stop.h"

/*
 * Stacks of addresses become places in one tree of functions. Then equal (place, thread, mode) become one
 * sum.
 */
struct place {
	uint32_t parent, function;	/* parent: HASH_NONE at a root */
	bool cut;			/* the walk ended early, here or at a caller */
	uint32_t sum;			/* of the stacks that end here, the first; HASH_NONE: there is none */
};

struct sum {
	uint32_t place, next;		/* the next sum of the place; HASH_NONE: there is none */
	uint32_t thread;		/* EVENT_NONE if none is wanted */
	enum mode mode;
	uint64_t weight, samples;
};

struct merge {
	struct window *window;
	struct budget *budget;
	bool full;			/* there is no memory for all, or the question was given up */
	bool inlined, threads, lines;	/* as in the question */
	uint32_t unread;		/* nodes where it is not known yet what is inlined, or in which line they are */
	uint32_t *place_of;		/* by node; HASH_NONE: not made yet */
	struct place *places;
	uint32_t place_count, place_room;
	struct hash by_place;
	struct sum *sums;
	uint32_t sum_count, sum_room;
	struct hash by_sum;
};

enum {
	DEPTH_MAX = 128,		/* both walks of a sample */
	FRAMES_MAX = 1024,		/* with inlined functions; the innermost are kept */
	BATCH = 64,			/* counts that are read before they are added */
};

/* HASH_NONE: there is no room for a new place. */
static uint32_t have_place(struct merge *merge, const struct place *place)
{
	struct place *places;
	uint64_t hash = hash_pair(&merge->by_place, place->parent,
		(uint64_t)place->cut << 32 | place->function);
	uint32_t at = 0, position;

	while ((position = hash_next(&merge->by_place, hash, &at)) != HASH_NONE) {
		const struct place *other = &merge->places[position];

		if (other->parent == place->parent && other->function == place->function &&
				other->cut == place->cut)
			return position;
	}
	places = budget_array(merge->budget, merge->places, merge->place_count,
		&merge->place_room, sizeof(*places));
	if (places)
		merge->places = places;
	merge->full = !places || !hash_add(&merge->by_place, hash, merge->place_count);
	if (merge->full)
		return HASH_NONE;
	merge->places[merge->place_count] = *place;
	merge->places[merge->place_count].sum = HASH_NONE;
	return merge->place_count++;
}

/* The place of the innermost function that is inlined in a node. `parent` is the place of the node's own function. */
static uint32_t place_inlined(struct merge *merge, const struct node *node, uint32_t parent)
{
	struct symbols *symbols = merge->window->inputs.symbols;
	struct inlined inlined;

	if (merge->lines && !symbols_line_at(symbols, node->space, node->address))
		merge->unread++;
	if (!symbols_inlined(symbols, node->space, node->address, &inlined))
		merge->unread++;
	for (uint32_t i = 0; i < inlined.count && !merge->full; i++)
		parent = have_place(merge, &(struct place) {
			.parent = parent, .function = inlined.functions[i],
			.cut = merge->places[parent].cut });
	return parent;
}

static uint32_t place_node(struct merge *merge, uint32_t id, uint32_t parent)
{
	const struct window *window = merge->window;
	struct node node = stacks_node(window->inputs.stacks, id);
	struct place place = {
		.parent = parent,
		.function = window->nodes->functions[id],
		.cut = node.cut || (parent != HASH_NONE && merge->places[parent].cut),
	};

	parent = have_place(merge, &place);
	if (merge->inlined && !merge->full)
		parent = place_inlined(merge, &node, parent);
	return parent;
}

/* The place of a node. Makes those of its callers first. */
static uint32_t place_of(struct merge *merge, uint32_t leaf)
{
	const struct window *window = merge->window;
	uint32_t path[DEPTH_MAX], depth = 0, id = leaf, parent = HASH_NONE;

	while (id != STACKS_NONE && merge->place_of[id] == HASH_NONE && depth < DEPTH_MAX) {
		path[depth++] = id;
		id = stacks_node(window->inputs.stacks, id).parent;
	}
	if (id != STACKS_NONE)
		parent = merge->place_of[id];
	while (depth-- > 0 && !merge->full)
		parent = merge->place_of[path[depth]] = place_node(merge, path[depth], parent);
	return parent;
}

/* The place of a stack's leaf; for idle time, and for a sample without a stack, that of the one function. */
static uint32_t place_of_stack(struct merge *merge, uint32_t stack, enum mode mode)
{
	struct place place = { .parent = HASH_NONE };

	if (mode != MODE_IDLE && stack != STACKS_NONE)
		return place_of(merge, stack);
	place.function = mode == MODE_IDLE ? merge->window->idle : merge->window->unknown;
	return have_place(merge, &place);
}

static bool same_sum(const struct sum *a, const struct sum *b)
{
	return a->place == b->place && a->thread == b->thread && a->mode == b->mode;
}

static uint64_t hash_of(const struct merge *merge, const struct sum *sum)
{
	return hash_pair(&merge->by_sum, (uint64_t)sum->place << 32 | sum->thread, sum->mode);
}

static void add_sum(struct merge *merge, const struct sum *sum, uint64_t hash)
{
	uint32_t at = 0, position;
	struct sum *sums;

	while ((position = hash_next(&merge->by_sum, hash, &at)) != HASH_NONE) {
		if (same_sum(&merge->sums[position], sum)) {
			merge->sums[position].weight += sum->weight;
			merge->sums[position].samples += sum->samples;
			return;
		}
	}
	sums = budget_array(merge->budget, merge->sums, merge->sum_count, &merge->sum_room,
		sizeof(*sums));
	if (sums)
		merge->sums = sums;
	merge->full = !sums || !hash_add(&merge->by_sum, hash, merge->sum_count);
	if (merge->full)
		return;
	merge->sums[merge->sum_count] = *sum;
	merge->sums[merge->sum_count].next = merge->places[sum->place].sum;
	merge->places[sum->place].sum = merge->sum_count++;
}

struct batch {
	uint32_t count;
	struct sum sums[BATCH];
	uint64_t hashes[BATCH];
};

/* Reads counts ahead, so that the memory in which their sums are looked up is fetched at the same time. */
static void read_batch(struct batch *batch, struct match_reader *reader, struct merge *merge)
{
	struct run_count count;
	const struct who *who;

	for (batch->count = 0; batch->count < BATCH && match_next(reader, &count, &who); batch->count++) {
		struct sum *sum = &batch->sums[batch->count];

		*sum = (struct sum) {
			.place = place_of_stack(merge, count.stack, who->mode), .mode = who->mode,
			.thread = merge->threads ? who->thread : EVENT_NONE,
			.weight = count.weight, .samples = count.samples,
		};
		if (merge->full)
			break;
		batch->hashes[batch->count] = hash_of(merge, sum);
		hash_fetch(&merge->by_sum, batch->hashes[batch->count]);
	}
}

static void fetch_sums(const struct batch *batch, const struct merge *merge)
{
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t at = 0, position = hash_next(&merge->by_sum, batch->hashes[i], &at);

		if (position != HASH_NONE)
			__builtin_prefetch(&merge->sums[position]);
		else
			__builtin_prefetch(&merge->places[batch->sums[i].place]);
	}
}

static void add_run(struct merge *merge, const struct match *match, const struct run *run)
{
	struct match_reader reader = match_begin(match, run);
	struct batch batch;

	do {
		read_batch(&batch, &reader, merge);
		fetch_sums(&batch, merge);
		for (uint32_t i = 0; i < batch.count && !merge->full; i++)
			add_sum(merge, &batch.sums[i], batch.hashes[i]);
	} while (batch.count == BATCH && !merge->full);
}

/* Calls `each` with the stack of each sum of a place. */
static void tell(const struct merge *merge, uint32_t place,
	void (*each)(void *context, const struct query_stack *stack), void *context)
{
	uint32_t functions[FRAMES_MAX], sum = merge->places[place].sum;
	struct query_stack stack = { .place = place, .cut = merge->places[place].cut };

	if (sum == HASH_NONE)
		return;
	for (; place != HASH_NONE && stack.depth < FRAMES_MAX; place = merge->places[place].parent)
		functions[FRAMES_MAX - ++stack.depth] = merge->places[place].function;
	stack.functions = functions + FRAMES_MAX - stack.depth;
	for (; sum != HASH_NONE; sum = merge->sums[sum].next) {
		stack.thread = merge->sums[sum].thread;
		stack.mode = merge->sums[sum].mode;
		stack.weight = merge->sums[sum].weight;
		stack.samples = merge->sums[sum].samples;
		each(context, &stack);
	}
}

static void add_slices(struct merge *merge)
{
	struct window *window = merge->window;
	const struct match match = window_match(window);

	for (size_t i = window->span.first; i < window->span.end && !merge->full; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		for (size_t k = 0; k < slice.run_count && !merge->full; k++)
			add_run(merge, &match, slice.runs[k]);
		merge->full = merge->full || stop_now(window->stop);
	}
}

static void merge_clear(struct merge *merge, size_t nodes)
{
	hash_clear(&merge->by_place);
	hash_clear(&merge->by_sum);
	budget_free(merge->budget, merge->place_of, merge->place_of ? nodes : 0);
	budget_free(merge->budget, merge->places, merge->place_room * sizeof(*merge->places));
	budget_free(merge->budget, merge->sums, merge->sum_room * sizeof(*merge->sums));
}

/* False: there is no memory for all stacks, or the question was given up. To be cleared in any case. */
static bool merge_all(struct merge *merge, struct query *query, const struct question *question,
	size_t *nodes)
{
	struct window *window = &query_reader(query, question)->window;

	*merge = (struct merge) {
		.window = window, .budget = query->inputs.budget, .inlined = question->inlined,
		.threads = question->threads, .lines = question->lines,
	};
	*nodes = stacks_nodes(query->inputs.stacks) * sizeof(*merge->place_of);
	window_look(window, question);
	hash_init(&merge->by_place, merge->budget);
	hash_init(&merge->by_sum, merge->budget);
	merge->place_of = budget_resize(merge->budget, NULL, 0, *nodes);
	if (!merge->place_of)
		return false;
	memset(merge->place_of, 0xff, *nodes);
	add_slices(merge);
	return !merge->full;
}

bool query_stacks(struct query *query, const struct question *question,
	void (*each)(void *context, const struct query_stack *stack), void *context)
{
	struct merge merge;
	size_t nodes;
	bool done = merge_all(&merge, query, question, &nodes);

	for (uint32_t i = 0; done && i < merge.place_count; i++)
		tell(&merge, i, each, context);
	merge_clear(&merge, nodes);
	return done;
}

uint32_t query_unread(struct query *query, const struct question *question)
{
	struct merge merge;
	size_t nodes;

	merge_all(&merge, query, question, &nodes);
	merge_clear(&merge, nodes);
	return merge.unread;
}
