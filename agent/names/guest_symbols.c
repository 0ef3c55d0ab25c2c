/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "function.h"
#include "guest_symbols.h"

enum { SORT_LEAST = GUEST_SYMBOLS_MAX / 16 };

/*
 * Most functions are told in order of address. The first `sorted` rows are in order, and none overlaps
 * another. The rest wait behind them until the next look-up.
 */
struct guest_symbols {
	struct budget *budget;
	struct guest_symbol *rows;
	uint32_t count, room, sorted;
	char *names;			/* in order of arrival; so a later name has a higher offset */
	size_t names_size, names_room;
	uint64_t refused;
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
	budget_free(symbols->budget, symbols->rows, symbols->room * sizeof(*symbols->rows));
	budget_free(symbols->budget, symbols->names, symbols->names_room);
	free(symbols);
}

/* ---- order ---- */

/* The first sorted row that ends after the address; `sorted`: there is none. */
static uint32_t position(const struct guest_symbols *symbols, uint64_t address)
{
	uint32_t low = 0, high = symbols->sorted;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols->rows[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* With equal addresses, the newer row comes last: it has the higher name offset. */
static int by_address(const void *left, const void *right)
{
	const struct guest_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* Sorts all rows. Of rows that overlap, the newest stays. */
static void sort(struct guest_symbols *symbols)
{
	struct guest_symbol *rows = symbols->rows;
	uint32_t kept = 0;

	if (symbols->sorted == symbols->count)
		return;
	qsort(rows, symbols->count, sizeof(*rows), by_address);
	for (uint32_t i = 0; i < symbols->count; i++) {
		struct guest_symbol row = rows[i];

		while (kept && rows[kept - 1].end > row.address && rows[kept - 1].name < row.name)
			kept--;
		if (!kept || rows[kept - 1].end <= row.address)
			rows[kept++] = row;
	}
	symbols->count = symbols->sorted = kept;
}

/* ---- what is told ---- */

/* Sorts at the limit only once many rows wait. Otherwise each new one that overlaps would sort all of them. */
static bool is_full(struct guest_symbols *symbols)
{
	if (symbols->count == GUEST_SYMBOLS_MAX && symbols->count - symbols->sorted >= SORT_LEAST)
		sort(symbols);
	return symbols->count == GUEST_SYMBOLS_MAX;
}

static bool make_room(struct guest_symbols *symbols, size_t text)
{
	struct guest_symbol *rows;
	size_t room = 2 * symbols->names_room + text + 32768;
	char *names;

	if (is_full(symbols) || symbols->names_size + text > GUEST_SYMBOLS_NAMES_MAX)
		return false;
	rows = budget_array(symbols->budget, symbols->rows, symbols->count, &symbols->room,
		sizeof(*rows));
	if (!rows)
		return false;
	symbols->rows = rows;
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

static bool is_known(const struct guest_symbols *symbols, uint64_t address, uint64_t end,
	const char *name, size_t size)
{
	uint32_t at = position(symbols, address);
	const struct guest_symbol *row;
	const char *known;

	if (at == symbols->sorted)
		return false;
	row = &symbols->rows[at];
	if (row->address != address || row->end != end)
		return false;
	known = guest_symbols_name(symbols, row);
	return strncmp(known, name, size) == 0 && known[size] == '\0';
}

bool guest_symbols_add(struct guest_symbols *symbols, uint64_t address, uint32_t size,
	struct text name)
{
	size_t length = name.size ? strnlen(name.bytes, name.size) : 0;
	uint64_t end = address + size;
	bool follows;

	if (end <= address || !length || is_known(symbols, address, end, name.bytes, length))
		return false;
	if (!make_room(symbols, length + 1)) {
		symbols->refused++;
		return false;
	}
	follows = symbols->sorted == symbols->count &&
		(!symbols->count || symbols->rows[symbols->count - 1].end <= address);
	symbols->rows[symbols->count++] = (struct guest_symbol) {
		.address = address, .end = end, .function = FUNCTION_NONE,
		.name = keep_name(symbols, name.bytes, length),
	};
	symbols->sorted += follows;
	return true;
}

/* ---- what is asked ---- */

struct guest_symbol *guest_symbols_find(struct guest_symbols *symbols, uint64_t address)
{
	uint32_t at;

	sort(symbols);
	at = position(symbols, address);
	if (at == symbols->count || symbols->rows[at].address > address)
		return NULL;
	return &symbols->rows[at];
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
