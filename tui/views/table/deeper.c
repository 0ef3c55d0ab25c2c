/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/answers/function_table.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "agent/query/tree/tree.h"
#include "deeper.h"
#include "row_cell.h"

static const struct function *named(const struct function_table *functions, const struct row *row)
{
	return symbols_get(functions->answer.symbols, row->function);
}

bool deeper_is_idle(const struct symbols *symbols, const struct row *row)
{
	const struct function *function = symbols_get(symbols, row->function);

	return !function->known && !function->address && !*function->object && strcmp(function->name, "[idle]") == 0;
}

uint64_t deeper_name(const struct function_table *functions, const struct row *row)
{
	const struct function *function = named(functions, row);

	return function->known ? tree_name(function, functions->kernel) : 0;
}

const char *deeper_words(const struct function_table *functions, const struct row *row, char *words, size_t size)
{
	const struct function *function = named(functions, row);
	bool of_machine = functions->machine_count && grouping_is_of_machine(functions->by);

	return grouping_filter(functions->by, function->name, of_machine ? function->object : NULL, words, size);
}

const char *deeper_line(const struct function_table *functions, const struct row *row, struct view_chosen *of)
{
	const struct caller *ran = row_ran(functions, row->function);
	const char *line = named(functions, row)->name;
	const struct function *function;

	if (functions->by != GROUP_LINE || !ran || !ran->weight || *line == '[')
		return "";
	function = symbols_get(functions->answer.symbols, ran->function);
	*of = (struct view_chosen) { .name = tree_name(function, functions->kernel), .put = true };
	util_print(of->text, sizeof(of->text), "%s", function->name);
	return line;
}

const char *deeper_refusal(const struct function_table *functions, const struct row *row)
{
	const char *name = named(functions, row)->name;

	if (deeper_is_idle(functions->answer.symbols, row))
		return "not opened: [idle] is the time of CPUs without work, no code runs in it; {idle} hides the row";
	if (strcmp(name, "[unknown]") == 0)
		return "not opened: no file that was read names this code; "
			"--kernel, --sysroot or --debug-dir gives one";
	if (strcmp(name, "[no source]") == 0)
		return "not opened: no file that was read has source lines of this code; --debug-dir gives one";
	if (strcmp(name, "[not read yet]") == 0)
		return "not opened: the source lines of this code are being read; wait until they are there";
	if (functions->by == GROUP_LINE)
		return "not opened: the function of this line is not known yet; wait until it is";
	return "not opened: no word of a filter can say this name; {by} shows other rows";
}
