/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/run.h"
#include "agent/store/stacks.h"
#include "grouping.h"

enum { ROW_TEXT = 512 };

const char *const group_words[GROUPS] = {
	[GROUP_FUNCTION] = "function", [GROUP_LINE] = "line", [GROUP_FILE] = "file", [GROUP_OBJECT] = "object",
	[GROUP_PROCESS] = "process", [GROUP_THREAD] = "thread", [GROUP_COMM] = "comm", [GROUP_CPU] = "cpu",
	[GROUP_MODE] = "mode",
};

const struct group_heads group_heads[GROUPS] = {
	[GROUP_FUNCTION] = { "FUNCTION", "OBJECT" }, [GROUP_LINE] = { "LINE", "OBJECT" }, [GROUP_FILE] = { "FILE", "" },
	[GROUP_OBJECT] = { "OBJECT", "" },
	[GROUP_PROCESS] = { "PROCESS", "" }, [GROUP_THREAD] = { "THREAD", "PROCESS" },
	[GROUP_COMM] = { "COMM", "" }, [GROUP_CPU] = { "CPU", "" }, [GROUP_MODE] = { "MODE", "" },
};

void grouping_clear(struct grouping *grouping)
{
	budget_free(grouping->budget, grouping->rows, grouping->count * sizeof(*grouping->rows));
	grouping->rows = NULL;
	grouping->count = 0;
	grouping->unread = 0;
}

bool grouping_is_by_who(enum group_by by)
{
	return by >= GROUP_PROCESS;
}

bool grouping_has_threads(enum group_by by)
{
	return by == GROUP_PROCESS || by == GROUP_THREAD || by == GROUP_COMM;
}

bool grouping_has_ran(enum group_by by)
{
	return grouping_has_threads(by) || by == GROUP_LINE;
}

bool grouping_is_of_machine(enum group_by by)
{
	return grouping_has_threads(by) || by == GROUP_CPU;
}

/* ---- rows of functions ---- */

static uint32_t not_read(struct grouping *grouping)
{
	return symbols_special(grouping->symbols, "[not read yet]");
}

/* It stands before the number of "mm/page.c:120". */
const char *grouping_file(struct symbols *symbols, uint32_t function, char text[GROUPING_FILE])
{
	const char *line = *symbols_get(symbols, function)->object ? symbols_line(symbols, function) : "";
	const char *end = line ? strrchr(line, ':') : NULL;

	if (!line || !*line)
		return line;
	snprintf(text, GROUPING_FILE, "%.*s", end ? (int)(end - line) : (int)strlen(line), line);
	return text;
}

static uint32_t row_of_file(struct grouping *grouping, uint32_t function)
{
	char text[GROUPING_FILE];
	const char *file = grouping_file(grouping->symbols, function, text);

	if (!file)
		return not_read(grouping);
	if (!*file)
		return symbols_special(grouping->symbols, "[no source]");
	return symbols_group(grouping->symbols, file, "");
}

/* Files of two objects may have the same name, so the object tells their lines apart. */
static uint32_t row_of_line(struct grouping *grouping, uint32_t id, const char *object)
{
	struct node node = stacks_node(grouping->stacks, id);
	const char *line = symbols_line_at(grouping->symbols, node.space, node.address);

	if (!line)
		return not_read(grouping);
	if (!*line)
		return symbols_special(grouping->symbols, "[no source]");
	return symbols_group(grouping->symbols, line, object);
}

/* A function without an object, such as idle time, is a row of its own. */
static uint32_t row_of(struct grouping *grouping, uint32_t node, uint32_t function)
{
	const char *object = symbols_get(grouping->symbols, function)->object;

	if (!*object)
		return function;
	switch (grouping->by) {
	case GROUP_LINE: return row_of_line(grouping, node, object);
	case GROUP_OBJECT: return symbols_group(grouping->symbols, object, "");
	default: return row_of_file(grouping, function);
	}
}

/* True: there is a place for the row of this function, or node. */
static bool have_place(struct grouping *grouping, uint32_t index)
{
	uint32_t count = grouping->by == GROUP_LINE ? stacks_nodes(grouping->stacks) :
		(uint32_t)symbols_functions(grouping->symbols), *rows;

	if (index < grouping->count)
		return true;
	if (grouping->count == 0 && grouping->by == GROUP_LINE)
		grouping->read = symbols_lines_read(grouping->symbols);
	count += count / 8;			/* so that it seldom grows */
	rows = budget_resize(grouping->budget, grouping->rows, grouping->count * sizeof(*rows), count * sizeof(*rows));
	if (!rows)
		return false;
	memset(rows + grouping->count, 0xff, (count - grouping->count) * sizeof(*rows));
	grouping->rows = rows;
	grouping->count = count;
	return true;
}

uint32_t grouping_frame(struct grouping *grouping, uint32_t node, uint32_t function)
{
	uint32_t index = grouping->by == GROUP_LINE ? node : function;

	if (grouping->by == GROUP_FUNCTION)
		return function;
	if (!have_place(grouping, index))
		return row_of(grouping, node, function);
	if (grouping->rows[index] == FUNCTION_NONE) {
		grouping->rows[index] = row_of(grouping, node, function);
		grouping->unread += grouping->rows[index] == not_read(grouping);
	}
	return grouping->rows[index];
}

/* How many files that were missing have been read. */
static uint32_t files_read(struct grouping *grouping)
{
	uint32_t unread = 0, later = not_read(grouping);

	for (uint32_t i = 0; i < grouping->count; i++)
		unread += grouping->rows[i] == later && !symbols_line(grouping->symbols, i);
	return grouping->unread - unread;
}

bool grouping_changed(struct grouping *grouping)
{
	uint64_t read, least = 1;

	if (grouping->unread == 0)
		return false;
	if (grouping->by == GROUP_LINE) {
		read = symbols_lines_read(grouping->symbols) - grouping->read;
		/* Several nodes may have one address, whose line is read once. */
		least += symbols_lines_all_read(grouping->symbols) ? 0 : grouping->unread / 2;
	} else {
		read = files_read(grouping);
	}
	if (read < least)
		return false;
	grouping_clear(grouping);
	return true;
}

/* ---- rows of those who ran a sample ---- */

uint32_t grouping_who(struct grouping *grouping, const struct who *who, enum context context)
{
	char name[ROW_TEXT], process[ROW_TEXT];

	if (grouping_has_threads(grouping->by))
		threads_title_process(grouping->threads, who->thread, who->process, process, sizeof(process));
	switch (grouping->by) {
	case GROUP_CPU:
		snprintf(name, sizeof(name), "CPU %" PRIu16, who->cpu);
		return who->cpu == WHO_NO_CPU ? symbols_special(grouping->symbols, "[CPU forgotten]") :
			symbols_group(grouping->symbols, name, "");
	case GROUP_MODE:
		return symbols_group(grouping->symbols, mode_names[context_mode(who, context)], "");
	case GROUP_THREAD:
		threads_title(grouping->threads, who->thread, name, sizeof(name));
		return symbols_group(grouping->symbols, name, process);
	case GROUP_COMM:
		threads_comm(grouping->threads, who->thread, who->process, name, sizeof(name));
		return symbols_group(grouping->symbols, name, "");
	default:
		return symbols_group(grouping->symbols, process, "");
	}
}

/* What stands behind a row's name: the number of "primes/17", "thread 17" or "CPU 3". NULL: there is none. */
static const char *number_of(const char *name)
{
	const char *end = name + strlen(name), *at = end;

	while (at > name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at > name && at < end && (at[-1] == '/' || at[-1] == ' ') ? at : NULL;
}

/* Names in brackets are no names, but where a word takes all that is shown. */
static bool is_name(enum group_by by, const char *name)
{
	return *name && (by == GROUP_COMM ? strcmp(name, "[idle]") != 0 : *name != '[');
}

/* In quotes, if a bare value could not say it. */
static void put_value(const char *value, char *words, size_t size)
{
	bool quotes = strpbrk(value, " \t|") || *value == '"' || *value == ':';
	size_t used = 0;

	if (quotes)
		words[used++] = '"';
	for (; *value && used + 4 <= size; value++) {
		words[used++] = *value;
		if (quotes && *value == '"')
			words[used++] = '"';
	}
	if (quotes)
		words[used++] = '"';
	words[used] = '\0';
}

const char *grouping_machine_filter(const char *machine, char *words, size_t size)
{
	snprintf(words, size, "machine:%lu", strtoul(machine, NULL, 10));
	return words;
}

const char *grouping_filter(enum group_by by, const char *name, const char *machine, char *words, size_t size)
{
	static const char *const kinds[GROUPS] = {
		[GROUP_FILE] = "file", [GROUP_OBJECT] = "object", [GROUP_PROCESS] = "process",
		[GROUP_THREAD] = "thread", [GROUP_COMM] = "comm", [GROUP_CPU] = "cpu", [GROUP_MODE] = "mode",
	};
	bool numbered = by == GROUP_PROCESS || by == GROUP_THREAD || by == GROUP_CPU;
	const char *number = numbered ? number_of(name) : NULL, *value = number ? number : name;
	size_t used;

	words[0] = '\0';
	if (!kinds[by] || !is_name(by, value))
		return words;
	used = machine ? strlen(grouping_machine_filter(machine, words, size)) : 0;
	used += (size_t)snprintf(words + used, size - used, "%s%s:", used ? " " : "", kinds[by]);
	put_value(value, words + used, size - used);
	return words;
}
