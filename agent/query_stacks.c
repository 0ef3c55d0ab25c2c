#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "query.h"
#include "query_state.h"
#include "stacks.h"
#include "store.h"
#include "util.h"

/* Stacks of addresses come together in one tree of functions; then equal keys in one sum. */
struct place {
	uint32_t parent, function;	/* parent: HASH_NONE at a root */
	bool cut;			/* this walk, or one before it, ended early */
};

struct sum {
	uint32_t place, thread, process;
	enum mode mode;
	uint64_t weight, samples;
};

struct merge {
	const struct window *window;
	uint32_t *place_of;		/* by node; HASH_NONE: not asked for yet */
	struct place *places;
	uint32_t place_count, place_room;
	struct hash by_place;
	struct sum *sums;
	uint32_t sum_count, sum_room;
	struct hash by_sum;
};

enum { DEPTH_MAX = 128 };		/* both stacks of a sample */

static uint32_t have_place(struct merge *merge, const struct place *place)
{
	uint64_t hash = hash_pair(&merge->by_place, place->parent,
		(uint64_t)place->cut << 32 | place->function);
	uint32_t at = 0, position;

	while ((position = hash_next(&merge->by_place, hash, &at)) != HASH_NONE) {
		const struct place *other = &merge->places[position];

		if (other->parent == place->parent && other->function == place->function
				&& other->cut == place->cut)
			return position;
	}
	if (merge->place_count == merge->place_room) {
		merge->place_room = 2 * merge->place_room + 1024;
		merge->places = util_grow(merge->places, merge->place_room, sizeof(*merge->places));
	}
	hash_add(&merge->by_place, hash, merge->place_count);
	merge->places[merge->place_count] = *place;
	return merge->place_count++;
}

/* A node's place: its callers get theirs first. */
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
	while (depth-- > 0) {
		struct place place = {
			.parent = parent,
			.function = window->naming.functions[path[depth]],
			.cut = stacks_node(window->inputs.stacks, path[depth]).cut
				|| (parent != HASH_NONE && merge->places[parent].cut),
		};

		parent = merge->place_of[path[depth]] = have_place(merge, &place);
	}
	return parent;
}

static uint32_t root_of(struct merge *merge, const struct store_key *key)
{
	struct place place = { .parent = HASH_NONE };

	if (key->mode != MODE_IDLE && key->stack != STACKS_NONE)
		return place_of(merge, key->stack);
	place.function = key->mode == MODE_IDLE ? merge->window->idle : merge->window->unknown;
	return have_place(merge, &place);
}

static bool same_sum(const struct sum *a, const struct sum *b)
{
	return a->place == b->place && a->thread == b->thread && a->process == b->process
		&& a->mode == b->mode;
}

static void add_sum(struct merge *merge, const struct sum *sum)
{
	uint64_t hash = hash_pair(&merge->by_sum, (uint64_t)sum->place << 32 | sum->thread,
		(uint64_t)sum->mode << 32 | sum->process);
	uint32_t at = 0, position;

	while ((position = hash_next(&merge->by_sum, hash, &at)) != HASH_NONE) {
		if (same_sum(&merge->sums[position], sum)) {
			merge->sums[position].weight += sum->weight;
			merge->sums[position].samples += sum->samples;
			return;
		}
	}
	if (merge->sum_count == merge->sum_room) {
		merge->sum_room = 2 * merge->sum_room + 1024;
		merge->sums = util_grow(merge->sums, merge->sum_room, sizeof(*merge->sums));
	}
	hash_add(&merge->by_sum, hash, merge->sum_count);
	merge->sums[merge->sum_count++] = *sum;
}

static void add_slice(struct merge *merge, const struct slice *slice)
{
	const struct window *window = merge->window;

	for (size_t i = 0; i < slice->count; i++) {
		const struct store_key *key = &slice->counts[i].key;

		if (filter_passes(&window->question.filter, window->inputs.threads, key))
			add_sum(merge, &(struct sum){
				.place = root_of(merge, key),
				.thread = key->thread, .process = key->process, .mode = key->mode,
				.weight = slice->counts[i].weight,
				.samples = slice->counts[i].samples,
			});
	}
}

static void tell(const struct merge *merge, const struct sum *sum,
	void (*each)(void *context, const struct query_stack *stack), void *context)
{
	uint32_t functions[DEPTH_MAX];
	struct query_stack stack = {
		.thread = sum->thread, .process = sum->process, .mode = sum->mode,
		.cut = merge->places[sum->place].cut, .weight = sum->weight,
		.samples = sum->samples,
	};
	uint32_t place = sum->place;

	for (; place != HASH_NONE && stack.depth < DEPTH_MAX; place = merge->places[place].parent)
		functions[DEPTH_MAX - ++stack.depth] = merge->places[place].function;
	stack.functions = functions + DEPTH_MAX - stack.depth;
	each(context, &stack);
}

void query_stacks(struct query *query, const struct question *question,
	void (*each)(void *context, const struct query_stack *stack), void *context)
{
	struct merge merge = { .window = &query->window };
	size_t nodes = stacks_nodes(query->window.inputs.stacks) * sizeof(*merge.place_of);

	window_update(&query->window, question);
	hash_init(&merge.by_place);
	hash_init(&merge.by_sum);
	merge.place_of = memset(util_alloc(nodes), 0xff, nodes);
	for (size_t i = query->window.span.first; i < query->window.span.end; i++) {
		struct slice slice = store_slice(query->window.inputs.store, i);

		add_slice(&merge, &slice);
	}
	for (uint32_t i = 0; i < merge.sum_count; i++)
		tell(&merge, &merge.sums[i], each, context);
	hash_clear(&merge.by_place);
	hash_clear(&merge.by_sum);
	free(merge.place_of);
	free(merge.places);
	free(merge.sums);
}
