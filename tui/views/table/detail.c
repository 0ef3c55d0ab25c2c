/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"
#include "agent/base/change.h"
#include "agent/base/change_text.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "detail.h"
#include "row_cell.h"

static void write_inlined(FILE *to, const struct function_table *functions, const struct row *row)
{
	if (functions->selected != row->function || functions->inlined_count == 0)
		return;
	fputs("  inlined: ", to);
	for (size_t i = 0; i < functions->inlined_count; i++)
		fprintf(to, "%s%s %.0f%%", i ? ", " : "",
			symbols_get(functions->answer.symbols, functions->inlined[i].function)->name,
			100.0 * (double)functions->inlined[i].weight / (double)functions->inlined_of);
}

static void write_callers(FILE *to, const struct function_table *functions, const struct row *row)
{
	if (functions->selected != row->function || functions->caller_count == 0)
		return;
	fputs("  callers: ", to);
	for (size_t i = 0; i < functions->caller_count; i++) {
		const struct caller *caller = &functions->callers[i];

		fprintf(to, "%s%s %.0f%%", i ? ", " : "",
			symbols_get(functions->answer.symbols, caller->function)->name,
			row->total ? 100.0 * (double)caller->weight / (double)row->total : 0);
	}
}

/* Of a line: the function in whose code it is. */
static void write_function(FILE *to, const struct function_table *functions, const struct row *row)
{
	const struct caller *ran = functions->by == GROUP_LINE ? row_ran(functions, row->function) : NULL;

	if (ran && ran->weight)
		fprintf(to, "  in: %s", symbols_get(functions->answer.symbols, ran->function)->name);
}

/* How the function's total is divided among the machines. */
static void write_machines(FILE *to, const struct function_table *functions, const struct vitals *vitals,
	const struct row *row)
{
	const char *before = "  on: ";

	if (functions->selected != row->function || row->total == 0)
		return;
	for (size_t i = 0; i < functions->machine_count && i < vitals->machine_count; i++) {
		uint64_t total = functions->machines[i].total;

		if (total == 0)
			continue;
		fprintf(to, "%s%s %.0f%%", before, vitals->machines[i].name,
			100.0 * (double)total / (double)row->total);
		before = ", ";
	}
}

/* " (+1.20)" */
static void write_change(FILE *to, const struct table *table, const struct row *row,
	struct change (*change)(const struct table *table, const struct row *row))
{
	char text[CHANGE_TEXT];

	if (table->base)
		fprintf(to, " (%s)", change_text(change(table, row), CHANGE_NUMBER, text));
}

/* A thread, CPU or such has no callers, and one share. The columns may show a share of one CPU; this is of all. */
static void write_shares(FILE *to, const struct function_table *functions, const struct row *row)
{
	const struct table *table = functions->table;
	char share[ROW_SHARE];

	if (grouping_is_by_who(functions->by)) {
		fprintf(to, "  %s%% of all", row_total_share(table, row, share));
	} else {
		fprintf(to, "  self %s%%", row_self_share(table, row, share));
		write_change(to, table, row, table_self_change);
		fprintf(to, " total %s%%", row_total_share(table, row, share));
	}
	write_change(to, table, row, table_total_change);
}

void detail_write(const struct function_table *functions, const struct vitals *vitals, const struct row *row,
	char text[DETAIL])
{
	const struct function *function = symbols_get(functions->answer.symbols, row->function);
	const char *source = row_line(functions, row->function);
	FILE *to = fmemopen(text, DETAIL, "w");

	text[0] = '\0';
	if (!to)
		return;
	fputs(function->name, to);
	if (*functions->now && functions->selected == row->function)
		fprintf(to, "  now: %s", functions->now);
	if (source && *source)
		fprintf(to, "  %s", source);
	write_shares(to, functions, row);
	write_function(to, functions, row);
	write_inlined(to, functions, row);
	if (functions->machines)
		write_machines(to, functions, vitals, row);
	else
		write_callers(to, functions, row);
	if (*function->object)
		fprintf(to, "  %s", function->object);
	if (function->address && !functions->machines)
		fprintf(to, " 0x%" PRIx64, function->address);
	fclose(to);
	text[DETAIL - 1] = '\0';
}
