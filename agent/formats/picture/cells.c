/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/query/tree/contexts.h"
#include "cells.h"

struct building {
	struct cells cells;		/* first: what others see */
	struct cell *list;
	struct cell_part *parts;
	struct set_function *functions;
	uint32_t cell_room, part_room, function_room;
	struct budget *budget;		/* held; pays for the lists and the hashes; NULL: no limit */
	struct hash children;		/* cells, by parent and function */
	struct hash whats;		/* functions, by name and object */
	struct hash modes;		/* parts, by cell and mode */
};

static struct building *building_of(struct cells *cells)
{
	return (struct building *)cells;
}

/* Room for one more element. False: no memory. */
static bool reserve(struct building *self, void *array, uint32_t count, uint32_t *room, size_t size)
{
	void *memory, *grown;

	memcpy(&memory, array, sizeof(memory));
	grown = budget_array(self->budget, memory, count, room, size);
	if (grown)
		memcpy(array, &grown, sizeof(grown));
	return grown;
}

static void show(struct building *self)
{
	self->cells.cells = self->list;
	self->cells.parts = self->parts;
	self->cells.functions = self->functions;
}

struct cells *cells_new(struct budget *budget)
{
	struct building *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->budget = budget_hold(budget);
	hash_init(&self->children, budget);
	hash_init(&self->whats, budget);
	hash_init(&self->modes, budget);
	if (!reserve(self, &self->list, 0, &self->cell_room, sizeof(*self->list))) {
		budget_release(budget);
		free(self);
		return NULL;
	}
	self->list[0] = (struct cell) { .parent = SET_NONE, .function = SET_NONE };
	self->cells.cell_count = 1;
	show(self);
	return &self->cells;
}

void cells_free(struct cells *cells)
{
	struct building *self = building_of(cells);

	if (!self)
		return;
	hash_clear(&self->children);
	hash_clear(&self->whats);
	hash_clear(&self->modes);
	budget_free(self->budget, self->list, self->cell_room * sizeof(*self->list));
	budget_free(self->budget, self->parts, self->part_room * sizeof(*self->parts));
	budget_free(self->budget, self->functions, self->function_room * sizeof(*self->functions));
	budget_release(self->budget);
	free(self);
}

static bool is_same(const struct set_function *a, const struct set_function *b)
{
	return a->kind == b->kind && a->address == b->address && a->line == b->line &&
		strcmp(a->name, b->name) == 0 && strcmp(a->object, b->object) == 0 && strcmp(a->file, b->file) == 0;
}

static uint32_t intern(struct building *self, const struct set_function *function)
{
	uint64_t key = hash_pair(&self->whats, hash_text(&self->whats, function->name), function->address);
	uint32_t found, at = 0, count = self->cells.function_count;

	while ((found = hash_next(&self->whats, key, &at)) != HASH_NONE)
		if (is_same(&self->functions[found], function))
			return found;
	if (!reserve(self, &self->functions, count, &self->function_room, sizeof(*self->functions)) ||
		!hash_add(&self->whats, key, count))
		return SET_NONE;
	self->functions[count] = *function;
	return self->cells.function_count++;
}

static uint32_t child_of(struct building *self, uint32_t parent, uint32_t function)
{
	uint64_t key = hash_pair(&self->children, parent, function);
	uint32_t found, at = 0, count = self->cells.cell_count;

	if (function == SET_NONE)
		return SET_NONE;
	while ((found = hash_next(&self->children, key, &at)) != HASH_NONE)
		if (self->list[found].parent == parent && self->list[found].function == function)
			return found;
	if (!reserve(self, &self->list, count, &self->cell_room, sizeof(*self->list)) ||
		!hash_add(&self->children, key, count))
		return SET_NONE;
	self->list[count] = (struct cell) {
		.parent = parent, .function = function, .level = self->list[parent].level + 1,
	};
	return self->cells.cell_count++;
}

uint32_t cells_child(struct cells *cells, uint32_t parent, const struct set_function *function)
{
	struct building *self = building_of(cells);
	uint32_t child = child_of(self, parent, intern(self, function));

	show(self);
	return child;
}

static void amount_add(struct cell_amount *to, const struct cell_amount *amount)
{
	to->weight += amount->weight;
	to->samples += amount->samples;
	to->ns += amount->ns;
	to->before += amount->before;
	to->samples_before += amount->samples_before;
}

static uint32_t part_of(struct building *self, uint32_t cell, uint8_t mode)
{
	uint64_t key = hash_pair(&self->modes, cell, mode);
	uint32_t found, at = 0, count = self->cells.part_count;

	while ((found = hash_next(&self->modes, key, &at)) != HASH_NONE)
		if (self->parts[found].cell == cell && self->parts[found].mode == mode)
			return found;
	if (!reserve(self, &self->parts, count, &self->part_room, sizeof(*self->parts)) ||
		!hash_add(&self->modes, key, count))
		return SET_NONE;
	self->parts[count] = (struct cell_part) { .cell = cell, .mode = mode };
	return self->cells.part_count++;
}

uint32_t cells_add(struct cells *cells, uint32_t cell, uint8_t mode, const struct cell_amount *amount)
{
	struct building *self = building_of(cells);
	uint32_t part = part_of(self, cell, mode < MODE_NAMES ? mode : MODE_KERNEL);

	show(self);
	if (part == SET_NONE)
		return SET_NONE;
	amount_add(&self->parts[part].amount, amount);
	amount_add(&self->list[cell].self, amount);
	return part;
}

/* Finds the cell of each of the set's stacks. A stack's caller comes before it. */
static bool map_stacks(struct cells *cells, const struct sample_set *set, uint32_t *cell_of_stack)
{
	for (uint32_t i = 0; i < set->stack_count; i++) {
		const struct set_stack *stack = &set->stacks[i];
		const struct set_location *location = &set->locations[stack->location];
		uint32_t cell = stack->parent == SET_NONE ? CELLS_ROOT : cell_of_stack[stack->parent];

		for (uint32_t line = location->count; line-- > 0 && cell != SET_NONE;)
			cell = cells_child(cells, cell, &set->functions[set->lines[location->first + line].function]);
		if (cell == SET_NONE)
			return false;
		cell_of_stack[i] = cell;
	}
	return true;
}

static bool add_sums(struct cells *cells, const struct sample_set *set, const uint32_t *cell_of_stack,
	uint32_t *part_of_sum)
{
	for (uint32_t i = 0; i < set->sum_count; i++) {
		const struct set_sum *sum = &set->sums[i];
		uint32_t part = cells_add(cells, cell_of_stack[sum->stack], sum->who.mode,
			&(struct cell_amount) { .weight = sum->weight, .samples = sum->samples, .ns = sum->ns });

		if (part == SET_NONE)
			return false;
		if (part_of_sum)
			part_of_sum[i] = part;
	}
	return true;
}

bool cells_add_set(struct cells *cells, const struct sample_set *set, uint32_t *part_of_sum)
{
	struct budget *budget = building_of(cells)->budget;
	size_t size = ((size_t)set->stack_count + 1) * sizeof(uint32_t);
	uint32_t *cell_of_stack = budget_resize(budget, NULL, 0, size);
	bool ok = cell_of_stack && map_stacks(cells, set, cell_of_stack) &&
		add_sums(cells, set, cell_of_stack, part_of_sum);

	budget_free(budget, cell_of_stack, cell_of_stack ? size : 0);
	return ok;
}

/* ---- settling ---- */

struct sorting {
	const struct cell *cells;
	const struct set_function *functions;
};

/* By parent, and then by name, so that siblings stand side by side. */
static int compare(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct cell *one = &sorting->cells[i], *other = &sorting->cells[j];
	int order;

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	order = strcmp(sorting->functions[one->function].name, sorting->functions[other->function].name);
	if (!order)
		order = strcmp(sorting->functions[one->function].object, sorting->functions[other->function].object);
	return order ? order : i < j ? -1 : i > j;
}

/* A cell's parent comes before it, so those below are summed up before it is. */
static void sum_up(struct cell *cells, uint32_t count)
{
	for (uint32_t i = count; i-- > 0;) {
		amount_add(&cells[i].total, &cells[i].self);
		cells[i].end = cells[i].end > i ? cells[i].end : i + 1;
		if (i == CELLS_ROOT)
			continue;
		amount_add(&cells[cells[i].parent].total, &cells[i].total);
		if (cells[cells[i].parent].end < cells[i].end)
			cells[cells[i].parent].end = cells[i].end;
	}
}

/*
 * Writes to `place` where each cell goes: right behind its parent, behind its siblings that sort before it and all that
 * is below these. `sizes`: how many cells there are in each with those below it. `sorted`: all but the root.
 */
static void find_places(const struct cell *cells, const uint32_t *sorted, uint32_t count, uint32_t *sizes,
	uint32_t *place)
{
	for (uint32_t i = count; i-- > 0;) {
		sizes[i]++;
		if (i != CELLS_ROOT)
			sizes[cells[i].parent] += sizes[i];
	}
	place[CELLS_ROOT] = 0;
	for (uint32_t i = 0, next = 0; i + 1 < count; i++) {
		const struct cell *cell = &cells[sorted[i]];

		if (i == 0 || cells[sorted[i - 1]].parent != cell->parent)
			next = place[cell->parent] + 1;
		place[sorted[i]] = next;
		next += sizes[sorted[i]];
	}
}

/* The mode of most of what a cell and those below it ran. `weights`, `most`: room for one of each cell; `most` is 0. */
static void find_modes(struct cell *cells, uint32_t count, const struct cell_part *parts, uint32_t part_count,
	uint64_t *weights, uint64_t *most)
{
	for (unsigned mode = 0; mode < MODE_NAMES; mode++) {
		memset(weights, 0, count * sizeof(*weights));
		for (uint32_t i = 0; i < part_count; i++)
			if (parts[i].mode == mode)
				weights[parts[i].cell] += parts[i].amount.weight + parts[i].amount.before;
		for (uint32_t i = count; i-- > 0;) {
			if (i != CELLS_ROOT)
				weights[cells[i].parent] += weights[i];
			if (weights[i] > most[i]) {
				most[i] = weights[i];
				cells[i].mode = (uint8_t)mode;
			}
		}
	}
}

struct room {				/* what settling needs meanwhile */
	uint32_t *sorted, *sizes, *place;
	uint64_t *weights, *most;
	struct cell *cells;
};

static void settle(struct building *self, const struct room *room)
{
	uint32_t count = self->cells.cell_count;
	struct sorting sorting = { self->list, self->functions };

	for (uint32_t i = 1; i < count; i++)
		room->sorted[i - 1] = i;
	qsort_r(room->sorted, count - 1, sizeof(*room->sorted), compare, &sorting);
	find_places(self->list, room->sorted, count, room->sizes, room->place);
	for (uint32_t i = 0; i < count; i++) {
		struct cell *cell = &room->cells[room->place[i]];

		*cell = self->list[i];
		if (i != CELLS_ROOT)
			cell->parent = room->place[cell->parent];
	}
	for (uint32_t i = 0; i < self->cells.part_count; i++)
		self->parts[i].cell = room->place[self->parts[i].cell];
	sum_up(room->cells, count);
	find_modes(room->cells, count, self->parts, self->cells.part_count, room->weights, room->most);
}

/* For so many cells. False: no memory; what there is of it is still to be freed. */
static bool make_room(struct room *room, size_t count)
{
	*room = (struct room) {
		.sorted = calloc(count, sizeof(*room->sorted)), .sizes = calloc(count, sizeof(*room->sizes)),
		.place = calloc(count, sizeof(*room->place)), .weights = calloc(count, sizeof(*room->weights)),
		.most = calloc(count, sizeof(*room->most)), .cells = calloc(count, sizeof(*room->cells)),
	};
	return room->sorted && room->sizes && room->place && room->weights && room->most && room->cells;
}

bool cells_settle(struct cells *cells)
{
	struct building *self = building_of(cells);
	uint32_t count = cells->cell_count;
	size_t other = count * (3 * sizeof(uint32_t) + 2 * sizeof(uint64_t)), own = count * sizeof(struct cell);
	struct room room;
	bool ok;

	if (!budget_take(self->budget, other + own))
		return false;
	ok = make_room(&room, count);
	if (ok) {
		settle(self, &room);
		budget_free(self->budget, self->list, self->cell_room * sizeof(*self->list));
		self->list = room.cells;
		self->cell_room = count;
		room.cells = NULL;
		show(self);
	}
	free(room.sorted);
	free(room.sizes);
	free(room.place);
	free(room.weights);
	free(room.most);
	free(room.cells);
	budget_give(self->budget, ok ? other : other + own);
	return ok;
}
