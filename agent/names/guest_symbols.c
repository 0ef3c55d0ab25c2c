/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "function.h"
#include "guest_symbols.h"

enum { BLOCK = 512 };			/* functions */

/* In order of address; none overlaps another. A later block's lie above those of an earlier one. None is empty. */
struct block {
	uint32_t count;
	struct guest_symbol rows[BLOCK];
};

/* A guest tells its functions in any order, and asks between them: each costs about as much as the one before. */
struct guest_symbols {
	struct budget *budget;
	struct block **blocks;
	uint32_t block_count, room;	/* used and allocated entries of blocks[] */
	struct block *spare;		/* so that a new function always has room; NULL: none yet */
	uint32_t count;			/* functions */
	char *names;			/* in order of arrival */
	size_t names_size, names_room;
	uint64_t refused;
};

struct place {
	uint32_t block, row;
};

struct guest_symbols *guest_symbols_new(struct budget *budget)
{
	struct guest_symbols *symbols = util_alloc(sizeof(*symbols));

	symbols->budget = budget;
	return symbols;
}

void guest_symbols_free(struct guest_symbols *symbols)
{
	if (!symbols)
		return;
	for (uint32_t i = 0; i < symbols->block_count; i++)
		budget_free(symbols->budget, symbols->blocks[i], sizeof(struct block));
	budget_free(symbols->budget, symbols->spare, symbols->spare ? sizeof(struct block) : 0);
	budget_free(symbols->budget, symbols->blocks, symbols->room * sizeof(*symbols->blocks));
	budget_free(symbols->budget, symbols->names, symbols->names_room);
	free(symbols);
}

/* ---- order ---- */

/* The first function that ends behind the address. Its block is `block_count` if there is none. */
static struct place place_of(const struct guest_symbols *symbols, uint64_t address)
{
	struct place place = { .block = 0 };
	uint32_t low = 0, high = symbols->block_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct block *block = symbols->blocks[middle];

		if (block->rows[block->count - 1].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	place.block = low;
	high = low < symbols->block_count ? symbols->blocks[low]->count : 0;
	while (place.row < high) {
		uint32_t middle = place.row + (high - place.row) / 2;

		if (symbols->blocks[place.block]->rows[middle].end <= address)
			place.row = middle + 1;
		else
			high = middle;
	}
	return place;
}

/* NULL: there is none. */
static struct guest_symbol *row_at(const struct guest_symbols *symbols, struct place place)
{
	return place.block < symbols->block_count ? &symbols->blocks[place.block]->rows[place.row] : NULL;
}

static void drop_block(struct guest_symbols *symbols, uint32_t at)
{
	budget_free(symbols->budget, symbols->blocks[at], sizeof(struct block));
	symbols->block_count--;
	memmove(symbols->blocks + at, symbols->blocks + at + 1, (symbols->block_count - at) * sizeof(*symbols->blocks));
}

/* Drops the functions from `place` on that begin before `end`. */
static void drop_until(struct guest_symbols *symbols, struct place place, uint64_t end)
{
	while (place.block < symbols->block_count) {
		struct block *block = symbols->blocks[place.block];
		uint32_t last = place.row;

		while (last < block->count && block->rows[last].address < end)
			last++;
		memmove(block->rows + place.row, block->rows + last, (block->count - last) * sizeof(*block->rows));
		block->count -= last - place.row;
		symbols->count -= last - place.row;
		if (place.row < block->count)
			return;
		if (!block->count)
			drop_block(symbols, place.block);
		else
			place.block++;
		place.row = 0;
	}
}

/* Puts the spare block behind the one at `at`, with those of its functions that are not among the first `kept`. */
static void split(struct guest_symbols *symbols, uint32_t at, uint32_t kept)
{
	struct block *full = symbols->blocks[at], *new = symbols->spare;

	symbols->spare = NULL;
	new->count = full->count - kept;
	memcpy(new->rows, full->rows + kept, new->count * sizeof(*new->rows));
	full->count = kept;
	memmove(symbols->blocks + at + 2, symbols->blocks + at + 1,
		(symbols->block_count - at - 1) * sizeof(*symbols->blocks));
	symbols->blocks[at + 1] = new;
	symbols->block_count++;
}

/* A place in a block that has room, for a function that lies before the one at `place`. There is a spare block. */
static struct place make_place(struct guest_symbols *symbols, struct place place)
{
	if (!symbols->block_count) {
		symbols->blocks[symbols->block_count++] = symbols->spare;
		symbols->spare->count = 0;
		symbols->spare = NULL;
	} else if (place.block == symbols->block_count) {
		place.block--;
		place.row = symbols->blocks[place.block]->count;
	}
	if (symbols->blocks[place.block]->count < BLOCK)
		return place;
	split(symbols, place.block, place.row == BLOCK ? BLOCK : BLOCK / 2);	/* most come in order */
	if (place.row > symbols->blocks[place.block]->count || symbols->blocks[place.block]->count == BLOCK) {
		place.row -= symbols->blocks[place.block]->count;
		place.block++;
	}
	return place;
}

static void insert(struct guest_symbols *symbols, const struct guest_symbol *row)
{
	struct place place = make_place(symbols, place_of(symbols, row->address));
	struct block *block = symbols->blocks[place.block];

	memmove(block->rows + place.row + 1, block->rows + place.row,
		(block->count - place.row) * sizeof(*block->rows));
	block->rows[place.row] = *row;
	block->count++;
	symbols->count++;
}

/* ---- what is told ---- */

static bool have_spare(struct guest_symbols *symbols)
{
	struct block **blocks = budget_array(symbols->budget, symbols->blocks, symbols->block_count, &symbols->room,
		sizeof(*blocks));

	if (!blocks)
		return false;
	symbols->blocks = blocks;
	if (!symbols->spare)
		symbols->spare = budget_resize(symbols->budget, NULL, 0, sizeof(struct block));
	return symbols->spare;
}

static bool make_room(struct guest_symbols *symbols, size_t text)
{
	size_t room = 2 * symbols->names_room + text + 32768;
	char *names;

	if (!have_spare(symbols) || symbols->names_size + text > GUEST_SYMBOLS_NAMES_MAX)
		return false;
	if (symbols->names_size + text <= symbols->names_room)
		return true;
	names = budget_resize(symbols->budget, symbols->names, symbols->names_room, room);
	if (!names)
		return false;
	symbols->names = names;
	symbols->names_room = room;
	return true;
}

static uint32_t keep_name(struct guest_symbols *symbols, const char *name, size_t size)
{
	size_t at = symbols->names_size;

	memcpy(symbols->names + at, name, size);
	symbols->names[at + size] = '\0';
	symbols->names_size += size + 1;
	return (uint32_t)at;
}

static bool is_known(const struct guest_symbols *symbols, const struct guest_symbol *row, uint64_t address,
	uint64_t end, struct text name)
{
	const char *known;

	if (!row || row->address != address || row->end != end)
		return false;
	known = guest_symbols_name(symbols, row);
	return strncmp(known, name.bytes, name.size) == 0 && known[name.size] == '\0';
}

bool guest_symbols_add(struct guest_symbols *symbols, uint64_t address, uint32_t size,
	struct text name)
{
	struct place place = place_of(symbols, address);
	const struct guest_symbol *next = row_at(symbols, place);
	uint64_t end = address + size;

	name.size = name.size ? strnlen(name.bytes, name.size) : 0;
	if (end <= address || !name.size || is_known(symbols, next, address, end, name))
		return false;
	if (!make_room(symbols, name.size + 1) ||
			(symbols->count == GUEST_SYMBOLS_MAX && (!next || next->address >= end))) {
		symbols->refused++;
		return false;
	}
	drop_until(symbols, place, end);
	insert(symbols, &(struct guest_symbol) {
		.address = address, .end = end, .function = FUNCTION_NONE,
		.name = keep_name(symbols, name.bytes, name.size),
	});
	return true;
}

/* ---- what is asked ---- */

struct guest_symbol *guest_symbols_find(const struct guest_symbols *symbols, uint64_t address)
{
	struct guest_symbol *row = row_at(symbols, place_of(symbols, address));

	return row && row->address <= address ? row : NULL;
}

const char *guest_symbols_name(const struct guest_symbols *symbols,
	const struct guest_symbol *symbol)
{
	return symbols->names + symbol->name;
}

void guest_symbols_retry(struct guest_symbols *symbols)
{
	symbols->refused = 0;
}

uint64_t guest_symbols_refused(const struct guest_symbols *symbols)
{
	return symbols->refused;
}

/* ---- functions ---- */

#define NO_REST 0xffffffffu

enum {
	CHUNK = 1024, CHUNKS = FUNCTIONS_MAX / CHUNK,
	TEXT_COST = 32,			/* what a block of memory takes beyond its text */
};

struct entry {
	struct function function;	/* written before its id is handed out, never again */
	struct origin origin;		/* the owner's alone */
};

struct functions {
	struct budget *budget;
	uint32_t most;			/* functions before the "[unknown]" */
	uint32_t rest;			/* that "[unknown]"; NO_REST: not made yet */
	uint64_t refused;
	bool short_of_memory;		/* since functions_retry */
	size_t paid;			/* bytes */
	_Atomic uint32_t count;		/* written by the owner after the entry; read by any thread */
	struct entry *chunks[CHUNKS];
};

static struct entry *entry_of(const struct functions *functions, uint32_t id)
{
	return &functions->chunks[id / CHUNK][id % CHUNK];
}

struct functions *functions_new(struct budget *budget)
{
	struct functions *functions = util_alloc(sizeof(*functions));
	size_t most = budget_share(budget, 4 * FUNCTIONS_COST);

	functions->budget = budget;
	functions->most = most < FUNCTIONS_MAX ? (uint32_t)most : FUNCTIONS_MAX;
	functions->rest = NO_REST;
	return functions;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	for (uint32_t id = 0; id < functions->count; id++) {
		struct entry *entry = entry_of(functions, id);

		free((char *)entry->function.name);
		if (!entry->origin.starved)
			free((char *)entry->origin.line);
	}
	for (size_t i = 0; i < CHUNKS; i++)
		free(functions->chunks[i]);
	budget_give(functions->budget, functions->paid);
	free(functions);
}

static bool pay(struct functions *functions, const struct function *function)
{
	size_t bytes = strlen(function->name) + TEXT_COST + sizeof(struct entry);

	if (functions->count + 1 >= functions->most)
		return false;
	if (!budget_take(functions->budget, bytes)) {
		functions->short_of_memory = true;
		return false;
	}
	functions->paid += bytes;
	return true;
}

static uint32_t add(struct functions *functions, const struct function *function,
	const struct debug_object *object)
{
	uint32_t id = functions->count;
	struct entry *entry;

	if (id % CHUNK == 0)
		functions->chunks[id / CHUNK] = util_alloc(CHUNK * sizeof(struct entry));
	entry = entry_of(functions, id);
	entry->function = *function;
	entry->origin.object = object;
	atomic_store_explicit(&functions->count, id + 1, memory_order_release);
	return id;
}

uint32_t functions_add(struct functions *functions, const struct function *function,
	const struct debug_object *object)
{
	if (pay(functions, function))
		return add(functions, function, object);
	free((char *)function->name);
	functions->refused++;
	if (functions->rest == NO_REST)
		functions->rest = add(functions, &(struct function) {
			.name = util_copy("[unknown]", 9), .object = "" }, NULL);
	return functions->rest;
}

bool functions_is_rest(const struct functions *functions, uint32_t id)
{
	return id == functions->rest;
}

bool functions_retry(struct functions *functions)
{
	bool again = functions->short_of_memory;

	functions->short_of_memory = false;
	if (again)
		functions->refused = 0;
	return again;
}

uint64_t functions_refused(const struct functions *functions)
{
	return functions->refused;
}

/* Acquire pairs with the release in functions_add: ids below the count are complete. */
size_t functions_count(const struct functions *functions)
{
	return atomic_load_explicit(&functions->count, memory_order_acquire);
}

const struct function *functions_get(const struct functions *functions, uint32_t id)
{
	return &entry_of(functions, id)->function;
}

bool functions_set_line(struct functions *functions, uint32_t id, char *line)
{
	struct origin *origin = functions_origin(functions, id);
	size_t bytes = line ? strlen(line) + TEXT_COST : 0;

	origin->starved = !line || !budget_take(functions->budget, bytes);
	origin->line = origin->starved ? "" : line;
	if (origin->starved)
		free(line);
	else
		functions->paid += bytes;
	return !origin->starved;
}

void functions_retry_lines(struct functions *functions)
{
	for (uint32_t id = 0; id < functions->count; id++) {
		struct origin *origin = functions_origin(functions, id);

		if (origin->starved)
			*origin = (struct origin) { .object = origin->object };
	}
}

struct origin *functions_origin(struct functions *functions, uint32_t id)
{
	return &entry_of(functions, id)->origin;
}
