/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/bare/function_starts.h"
#include "bare_code.h"
#include "symbol_table.h"

enum { PIECE = 4096, PIECES_MAX = 1 << 16 };	/* bytes; of one file */

/* Frees the name. */
static bool add(struct bare_code *code, uint64_t address, uint64_t end, uint64_t limit, char *name)
{
	bool added = symbol_table_add(code->table, &(struct symbol_entry) {
		.address = address, .size = end - address, .limit = limit, .name = name, .name_size = strlen(name),
		.apart = true,
	});

	free(name);
	return added;
}

bool bare_code_know(struct bare_code *code, uint64_t address, uint64_t end)
{
	struct code_range *functions = budget_array(code->budget, code->functions, code->count, &code->room,
		sizeof(*functions));

	if (!functions)
		return false;
	code->functions = functions;
	functions[code->count++] = (struct code_range) { address, end };
	return true;
}

bool bare_code_add(struct bare_code *code, uint64_t address, uint64_t end, uint64_t limit)
{
	return bare_code_know(code, address, end) &&
		add(code, address, end, limit, util_format("%s+0x%" PRIx64, code->name, address - code->base));
}

static int by_address(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

void bare_code_sort(struct bare_code *code)
{
	if (code->count)
		qsort(code->functions, code->count, sizeof(*code->functions), by_address);
}

/* A piece begins at a page, or where a function ends. */
static bool add_pieces(struct bare_code *code, uint64_t at, uint64_t end, uint64_t limit)
{
	bool goes_on = true;

	while (at < end && goes_on && code->pieces++ < PIECES_MAX) {
		uint64_t next = (at / PIECE + 1) * PIECE;

		next = next > at && next < end ? next : end;
		goes_on = add(code, at, next, limit, util_format("%s+0x%" PRIx64 "-0x%" PRIx64, code->name,
			at - code->base, next - code->base));
		at = next;
	}
	return goes_on;
}

void bare_code_fill(struct bare_code *code, uint64_t address, uint64_t end)
{
	uint64_t at = address;

	if (!code->count)
		return;
	for (size_t i = 0; i < code->count; i++) {
		const struct code_range *function = &code->functions[i];

		if (function->end <= at || function->address >= end)
			continue;
		if (!add_pieces(code, at, function->address, end))
			return;
		at = function->end;
	}
	add_pieces(code, at, end, end);
}

void bare_code_clear(struct bare_code *code)
{
	budget_free(code->budget, code->functions, code->room * sizeof(*code->functions));
	code->functions = NULL;
	code->count = 0;
	code->room = 0;
}
