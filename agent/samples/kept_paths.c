/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/store/stacks.h"
#include "kept_paths.h"
#include "sample_set.h"

/* ---- light stacks ---- */

bool light_stacks_init(struct light_stacks *light, uint32_t nodes, struct budget *budget)
{
	size_t size = (size_t)nodes * sizeof(*light->weights);

	*light = (struct light_stacks) { .nodes = nodes, .budget = budget };
	light->weights = budget_resize(budget, NULL, 0, size);
	if (light->weights)
		memset(light->weights, 0, size);
	return light->weights;
}

void light_stacks_clear(struct light_stacks *light)
{
	if (light->weights)
		budget_free(light->budget, light->weights, light->nodes * sizeof(*light->weights));
	*light = (struct light_stacks) { .weights = NULL };
}

static uint32_t count_from(const struct light_stacks *light, uint64_t least)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < light->nodes; i++)
		count += light->weights[i] >= least;
	return count;
}

/* Of nodes that are summed up: as few are light as leave `most` that are not. */
static void light_stacks_choose(struct light_stacks *light, uint32_t most)
{
	uint64_t low = 1, high = 1;

	for (uint32_t i = 0; i < light->nodes; i++)
		if (light->weights[i] >= high)
			high = light->weights[i] + 1;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (count_from(light, middle) <= most)
			high = middle;
		else
			low = middle + 1;
	}
	light->least = low;
}

void light_stacks_settle(struct light_stacks *light, const struct stacks *stacks, uint32_t most)
{
	for (uint32_t i = light->nodes; i-- > 0;) {	/* a caller's number is lower than its callee's */
		uint32_t parent = stacks_node(stacks, i).parent;

		if (parent < light->nodes)
			light->weights[parent] += light->weights[i];
	}
	light_stacks_choose(light, most);
}

/* ---- kept paths ---- */

const struct set_function kept_paths_merged = { .name = "[merged]", .object = "", .file = "", .kind = SET_UNKNOWN };

bool kept_paths_is_merged(const struct sample_set *set, uint32_t stack)
{
	return strcmp(sample_set_leaf(set, stack)->name, kept_paths_merged.name) == 0;
}

struct kept {
	uint32_t parent;
	char *name;			/* the path's own; NULL: it is the root */
};

struct kept_paths {
	bool inlined;
	struct budget *budget;		/* NULL: no limit */
	struct kept *list;
	uint32_t count, room;
	struct hash hash;
};

struct kept_paths *kept_paths_new(bool inlined, struct budget *budget)
{
	struct kept_paths *paths = util_alloc(sizeof(*paths));

	*paths = (struct kept_paths) { .inlined = inlined, .budget = budget_hold(budget), .count = 1 };
	hash_init(&paths->hash, budget);
	return paths;
}

void kept_paths_free(struct kept_paths *paths)
{
	if (!paths)
		return;
	for (uint32_t i = 1; i < paths->count; i++)
		budget_free(paths->budget, paths->list[i].name, strlen(paths->list[i].name) + 1);
	budget_free(paths->budget, paths->list, paths->room * sizeof(*paths->list));
	hash_clear(&paths->hash);
	budget_release(paths->budget);
	free(paths);
}

static uint64_t hash_of(const struct kept_paths *paths, uint32_t parent, const char *name)
{
	return hash_pair(&paths->hash, parent, hash_text(&paths->hash, name));
}

uint32_t kept_paths_find(const struct kept_paths *paths, uint32_t parent, const char *name)
{
	uint64_t hash = hash_of(paths, parent, name);
	uint32_t at = 0, position;

	while ((position = hash_next(&paths->hash, hash, &at)) != HASH_NONE)
		if (paths->list[position].parent == parent && strcmp(paths->list[position].name, name) == 0)
			return position;
	return SET_NONE;
}

/* SET_NONE: no memory. */
static uint32_t add(struct kept_paths *paths, uint32_t parent, const char *name)
{
	uint32_t found = kept_paths_find(paths, parent, name);
	size_t size = strlen(name) + 1;
	struct kept *list;
	char *copy;

	if (found != SET_NONE)
		return found;
	list = budget_array(paths->budget, paths->list, paths->count, &paths->room, sizeof(*list));
	if (!list)
		return SET_NONE;
	paths->list = list;
	copy = budget_resize(paths->budget, NULL, 0, size);
	if (!copy || !hash_add(&paths->hash, hash_of(paths, parent, name), paths->count)) {
		budget_free(paths->budget, copy, copy ? size : 0);
		return SET_NONE;
	}
	list[paths->count] = (struct kept) { .parent = parent, .name = memcpy(copy, name, size) };
	return paths->count++;
}

/* ---- choosing ---- */

/* Adds the functions of a stack below its caller's path. */
static uint32_t add_stack(struct kept_paths *paths, const struct sample_set *set, const struct set_stack *stack,
	uint32_t path)
{
	const struct set_location *location = &set->locations[stack->location];
	uint32_t count = paths->inlined ? location->count : 1;

	for (uint32_t i = 1; i <= count && path != SET_NONE; i++) {
		const struct set_line *line = &set->lines[location->first + location->count - i];

		path = add(paths, path, set->functions[line->function].name);
	}
	return path;
}

/* What is below a stack that is not kept is not kept, too. */
static bool add_heavy(struct kept_paths *paths, const struct sample_set *set, const struct light_stacks *light,
	uint32_t *path_of)
{
	for (uint32_t i = 0; i < set->stack_count; i++) {
		const struct set_stack *stack = &set->stacks[i];
		uint32_t above = stack->parent == SET_NONE ? KEPT_ROOT : path_of[stack->parent];

		path_of[i] = SET_NONE;
		if (above == SET_NONE || light_stacks_has(light, i) || kept_paths_is_merged(set, i))
			continue;
		path_of[i] = add_stack(paths, set, stack, above);
		if (path_of[i] == SET_NONE)
			return false;
	}
	return true;
}

/* A stack's caller comes before it. */
static void weigh(const struct sample_set *set, struct light_stacks *light, uint32_t most)
{
	for (uint32_t i = 0; i < set->sum_count; i++)
		light_stacks_add(light, set->sums[i].stack, set->sums[i].weight);
	for (uint32_t i = set->stack_count; i-- > 0;)
		if (set->stacks[i].parent != SET_NONE)
			light_stacks_add(light, set->stacks[i].parent, light->weights[i]);
	light_stacks_choose(light, most);
}

bool kept_paths_choose(struct kept_paths *paths, const struct sample_set *set, uint32_t most)
{
	size_t size = (size_t)set->stack_count * sizeof(uint32_t);
	uint32_t *path_of = budget_resize(paths->budget, NULL, 0, size);
	struct light_stacks light = { 0 };
	bool good = path_of && light_stacks_init(&light, set->stack_count, paths->budget);

	if (good) {
		weigh(set, &light, most);
		good = add_heavy(paths, set, &light, path_of);
	}
	light_stacks_clear(&light);
	budget_free(paths->budget, path_of, path_of ? size : 0);
	return good;
}
