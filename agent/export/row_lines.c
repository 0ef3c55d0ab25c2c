/* SPDX-License-Identifier: MIT */
#include "agent/base/budget.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "row_lines.h"

/* Never 0: an empty table has lines, too. */
static size_t size_of(const struct table *table)
{
	return (table->count + 1) * sizeof(const char *);
}

const char **row_lines_new(const struct table *table, struct symbols *symbols)
{
	const char **lines = budget_resize(table->budget, NULL, 0, size_of(table)), *line;

	for (size_t i = 0; lines && i < table->count; i++) {
		line = symbols_source(symbols, table->rows[i].function);
		lines[i] = line ? line : "";
	}
	return lines;
}

void row_lines_free(const char **lines, const struct table *table)
{
	budget_free(table->budget, lines, lines ? size_of(table) : 0);
}
