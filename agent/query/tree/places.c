/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "places.h"

enum { DEPTH_MAX = 128 };		/* both walks of a sample */

/* ---- making and opening ---- */

void places_init(struct places *places, const struct tree_question *question, enum tree_order order, const char *kernel)
{
	places->order = order;
	places->recursion = question->recursion;
	places->of = question->of;
	util_print(places->kernel, sizeof(places->kernel), "%s", kernel);
	places->unfolded_count = 0;
	places->scarce = false;
	places->version++;
	hash_init(&places->by_name, places->budget);
}

void places_clear(struct places *places)
{
	hash_clear(&places->by_name);
	budget_free(places->budget, places->list, places->room * sizeof(*places->list));
	budget_free(places->budget, places->keys, places->key_count * sizeof(*places->keys));
	budget_free(places->budget, places->names, places->name_count * sizeof(*places->names));
	places->list = NULL;
	places->keys = NULL;
	places->names = NULL;
	places->count = places->room = places->key_count = places->name_count = 0;
}

bool places_are_of(const struct places *places, const struct tree_question *question, const char *kernel)
{
	return places->recursion == question->recursion && places->of == question->of &&
		strncmp(places->kernel, kernel, sizeof(places->kernel) - 1) == 0;
}

void places_open(struct places *places, uint32_t place)
{
	places->list[place].open = true;
	places->version++;
}

void places_unfold(struct places *places, const struct tree_question *question)
{
	uint32_t count = question->unfolded_count < TREE_UNFOLDED ? question->unfolded_count : TREE_UNFOLDED;
	uint64_t sorted[TREE_UNFOLDED];

	memcpy(sorted, question->unfolded, count * sizeof(*sorted));
	tree_sort_paths(sorted, count);
	if (count == places->unfolded_count && memcmp(sorted, places->unfolded, count * sizeof(*sorted)) == 0)
		return;
	memcpy(places->unfolded, sorted, count * sizeof(*sorted));
	places->unfolded_count = count;
	for (uint32_t i = 0; i < places->count; i++)
		if (!places->list[i].open && tree_has_path(sorted, count, places->list[i].path))
			places_open(places, i);
}

/* ---- keys ---- */

/* Makes room for `count` elements of an array that has `*room`. New bytes are `fill`. NULL: none is left. */
static void *grow(struct budget *budget, void *array, uint32_t *room, size_t count, size_t size, int fill)
{
	size_t more = count + count / 8;
	char *grown;

	if (count <= *room)
		return array;
	grown = budget_resize(budget, array, *room * size, more * size);
	if (!grown)
		return NULL;
	memset(grown + *room * size, fill, (more - *room) * size);
	*room = (uint32_t)more;
	return grown;
}

bool places_meet(struct places *places)
{
	uint32_t *keys = grow(places->budget, places->keys, &places->key_count, stacks_nodes(places->stacks),
		sizeof(*keys), 0xff);
	uint64_t *names = grow(places->budget, places->names, &places->name_count,
		symbols_functions(places->symbols), sizeof(*names), 0);

	places->keys = keys ? keys : places->keys;
	places->names = names ? names : places->names;
	if (places->key_count < stacks_nodes(places->stacks) ||
			places->name_count < symbols_functions(places->symbols))
		places->scarce = true;
	return !places->scarce;
}

static uint64_t name_of(struct places *places, uint32_t function)
{
	if (!places->names[function])
		places->names[function] = tree_name(symbols_get(places->symbols, function), places->kernel);
	return places->names[function];
}

/* The place of a function below another; makes it if there is none. PLACE_NONE: there is no memory. */
static uint32_t have(struct places *places, uint32_t parent, uint32_t function)
{
	uint64_t name = name_of(places, function), hash = hash_pair(&places->by_name, parent, name);
	uint32_t at = 0, place;
	struct tree_place *list;

	while ((place = hash_next(&places->by_name, hash, &at)) != HASH_NONE)
		if (places->list[place].parent == parent && places->list[place].name == name)
			return place;
	list = budget_array(places->budget, places->list, places->count, &places->room, sizeof(*list));
	if (list)
		places->list = list;
	if (!list || !hash_add(&places->by_name, hash, places->count)) {
		places->scarce = true;
		return PLACE_NONE;
	}
	list[places->count] = (struct tree_place) {
		.name = name, .parent = parent, .function = function,
		.depth = parent == TREE_TOP ? 0 : list[parent].depth + 1,
		.path = tree_path(places->order, places->of, parent == TREE_TOP ? 0 : list[parent].path, name),
	};
	list[places->count].open = tree_has_path(places->unfolded, places->unfolded_count, list[places->count].path);
	return places->count++;
}

/* The key of the next function behind one with this key, if the tree has that function below it. */
static uint32_t step(struct places *places, uint32_t key, uint32_t function)
{
	uint32_t place;

	if (key & PLACE_INNER)
		return key;
	if (places->recursion && name_of(places, function) == places->list[key].name)
		return key;
	place = places->list[key].open ? have(places, key, function) : PLACE_NONE;
	return place == PLACE_NONE ? key | PLACE_INNER : place;
}

/* The key of a node whose caller has this one; PLACE_NONE: the caller is not in the tree, or there is none. */
static uint32_t key_below(struct places *places, uint32_t caller, uint32_t node)
{
	uint32_t function = places->functions[node];

	if (caller != PLACE_NONE)
		return step(places, caller, function);
	return places->scarce ? PLACE_NONE : places_key_alone(places, function);
}

/* Settles the keys of its callers first. */
static uint32_t find_down(struct places *places, uint32_t leaf)
{
	uint32_t path[DEPTH_MAX], depth = 0, id = leaf, key;

	while (id != STACKS_NONE && depth < DEPTH_MAX && !places_settled(places, places->keys[id])) {
		path[depth++] = id;
		id = stacks_node(places->stacks, id).parent;
	}
	key = id == STACKS_NONE ? PLACE_NONE : places->keys[id];
	while (depth-- > 0)
		key = places->keys[path[depth]] = key_below(places, key, path[depth]);
	return key;
}

/* The node at which the way up begins: the leaf, or the outermost node of the function that the tree is around. */
static uint32_t begin_up(struct places *places, uint32_t leaf)
{
	uint32_t begin = STACKS_NONE;

	if (!places->of)
		return leaf;
	for (; leaf != STACKS_NONE; leaf = stacks_node(places->stacks, leaf).parent)
		if (name_of(places, places->functions[leaf]) == places->of)
			begin = leaf;
	return begin;
}

static uint32_t find_up(struct places *places, uint32_t leaf)
{
	uint32_t id = begin_up(places, leaf), key = PLACE_NONE;

	if (id != STACKS_NONE)
		key = have(places, TREE_TOP, places->functions[id]);
	while (key < PLACE_NONE && !(key & PLACE_INNER)) {
		id = stacks_node(places->stacks, id).parent;
		if (id == STACKS_NONE)
			break;
		key = step(places, key, places->functions[id]);
	}
	return places->keys[leaf] = key;
}

uint32_t places_find(struct places *places, uint32_t stack)
{
	return places->order == TREE_UP ? find_up(places, stack) : find_down(places, stack);
}

uint32_t places_key_alone(struct places *places, uint32_t function)
{
	if (places->of && name_of(places, function) != places->of)
		return PLACE_NONE;
	return have(places, TREE_TOP, function);
}
