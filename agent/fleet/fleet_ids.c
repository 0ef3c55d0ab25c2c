/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "agent/query/tree/tree.h"
#include "fleet_ids.h"

enum { KERNELS_MOST = 64, NO_KERNEL = 0 };	/* further kernels count as the last; programs have none */
enum { UNKNOWN = 0 };			/* the id of the function that stands for those without room */

struct fleet_ids {
	struct budget *budget;
	struct symbols *symbols;
	struct hash by_text;
	uint8_t *kernels;		/* the kernel of each function but the first: an index of kernel_names */
	uint32_t count, room;
	char kernel_names[KERNELS_MOST][TREE_KERNEL];
	uint8_t kernel_count;
};

uint32_t fleet_map_get(const struct fleet_map *map, uint32_t function)
{
	return function < map->count ? map->functions[function] : FUNCTION_NONE;
}

void fleet_map_clear(struct fleet_map *map, struct budget *budget)
{
	budget_give(budget, map->count * sizeof(*map->functions));
	free(map->functions);
	*map = (struct fleet_map) { 0 };
}

struct fleet_ids *fleet_ids_new(struct budget *budget)
{
	struct fleet_ids *names = util_alloc(sizeof(*names));

	names->budget = budget;
	names->symbols = symbols_new(budget);
	names->kernel_count = NO_KERNEL + 1;
	names->count = symbols_special(names->symbols, "[unknown]") + 1;
	hash_init(&names->by_text, budget);
	return names;
}

void fleet_ids_free(struct fleet_ids *names)
{
	if (!names)
		return;
	budget_free(names->budget, names->kernels, names->room * sizeof(*names->kernels));
	hash_clear(&names->by_text);
	symbols_free(names->symbols);
	free(names);
}

const struct symbols *fleet_ids_symbols(const struct fleet_ids *names)
{
	return names->symbols;
}

/* The index of the answer's kernel in kernel_names, where it is added if it is new. */
static uint8_t kernel_of(struct fleet_ids *names, const struct fleet_origin *origin)
{
	char name[TREE_KERNEL];
	uint8_t at = 1;

	tree_kernel_object(origin->kernel, name);
	while (at < names->kernel_count && strcmp(names->kernel_names[at], name) != 0)
		at++;
	if (at == KERNELS_MOST)
		return KERNELS_MOST - 1;
	if (at == names->kernel_count)
		strcpy(names->kernel_names[names->kernel_count++], name);
	return at;
}

static uint64_t text_hash(const struct fleet_ids *names, uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_pair(&names->by_text, hash, hash + (unsigned char)*text);
	return hash;
}

static bool is_same(const struct fleet_ids *names, uint32_t id, const struct function *wanted,
	uint8_t kernel)
{
	const struct function *function = symbols_get(names->symbols, id);

	return names->kernels[id] == kernel && function->kernel == wanted->kernel &&
		function->known == wanted->known &&
		function->inlined == wanted->inlined && strcmp(function->name, wanted->name) == 0 &&
		strcmp(function->object, wanted->object) == 0;
}

static bool has_name(const struct fleet_ids *names, uint32_t id, const char *name)
{
	return strcmp(symbols_get(names->symbols, id)->name, name) == 0;
}

/* Without room it returns UNKNOWN, or a function called "[unknown]" of the same object. */
static uint32_t add(struct fleet_ids *names, uint64_t hash, const struct function *function,
	uint8_t kernel)
{
	uint8_t *kernels = budget_array(names->budget, names->kernels, names->count, &names->room,
		sizeof(*kernels));
	uint32_t id;

	if (!kernels)
		return UNKNOWN;
	names->kernels = kernels;
	id = symbols_add(names->symbols, function);
	if (id < names->count)
		return id;
	names->kernels[names->count++] = kernel;
	if (has_name(names, id, function->name))
		hash_add(&names->by_text, hash, id);	/* or it is added anew next time: there may be room then */
	return id;
}

/* The common id of this function of a machine; a new one is added. [idle] and its like are the same on all machines. */
static uint32_t common(struct fleet_ids *names, const struct function *function, const struct fleet_origin *origin)
{
	uint8_t kernel = function->kernel ? kernel_of(names, origin) : NO_KERNEL;
	struct function wanted = *function;
	uint32_t at = 0, id;
	uint64_t hash;

	if (kernel && strcmp(function->object, "kernel") == 0)
		wanted.object = names->kernel_names[kernel];
	if (grouping_is_of_machine(origin->by) && function->known)
		wanted.object = origin->machine;
	hash = text_hash(names, text_hash(names, kernel, wanted.name), wanted.object);
	while ((id = hash_next(&names->by_text, hash, &at)) != HASH_NONE)
		if (is_same(names, id, &wanted, kernel))
			return id;
	return add(names, hash, &wanted, kernel);
}

uint32_t fleet_ids_map(struct fleet_ids *names, struct fleet_map *map, const struct fleet_origin *origin,
	uint32_t function)
{
	const struct function *met;
	uint32_t id;

	if (map->of != origin->symbols || map->of_machine != grouping_is_of_machine(origin->by))
		fleet_map_clear(map, names->budget);
	map->of = origin->symbols;
	map->of_machine = grouping_is_of_machine(origin->by);
	if (function >= map->count) {
		size_t count = symbols_functions(origin->symbols);

		budget_charge(names->budget, (count - map->count) * sizeof(*map->functions));
		map->functions = util_grow(map->functions, count, sizeof(*map->functions));
		memset(map->functions + map->count, 0xff,
			(count - map->count) * sizeof(*map->functions));
		map->count = count;
	}
	if (map->functions[function] != FUNCTION_NONE)
		return map->functions[function];
	met = symbols_get(origin->symbols, function);
	id = common(names, met, origin);
	if (has_name(names, id, met->name))
		map->functions[function] = id;		/* or it is looked for again: there may be room then */
	return id;
}
