/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "agent/base/util.h"
#include "sym_text.h"
#include "symbol_table.h"

/* The most bytes of a symbol that has no size and no successor. */
enum { FUNCTION_MAX = 1 << 20 };

enum line_kind { LINE_CODE, LINE_OTHER, LINE_BAD };

struct cursor {
	const char *at, *end;
};

static bool skip_blanks(struct cursor *line)
{
	const char *from = line->at;

	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	return line->at > from;
}

/* Of a hexadecimal digit, its value + 1; of any other character 0. A list has some million digits. */
static const uint8_t digit_values[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
	['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* A number of 2 to 16 digits, followed by a blank. A single digit may be a type instead. */
static bool take_number(struct cursor *line, uint64_t *value)
{
	struct cursor rest = *line;
	const char *most = rest.end - rest.at > 16 ? rest.at + 16 : rest.end;
	uint64_t number = 0;
	uint8_t digit;

	for (; rest.at < most && (digit = digit_values[(uint8_t)*rest.at]); rest.at++)
		number = number << 4 | (digit - 1u);
	if (rest.at - line->at < 2 || !skip_blanks(&rest))
		return false;
	*value = number;
	*line = rest;
	return true;
}

/* One of nm's letters, and one blank: other tools write other letters, or columns. */
static bool take_type(struct cursor *line, char *type)
{
	if (line->end - line->at < 2 || !*line->at || !strchr("AaBbCcDdGgIiNnPpRrSsTtUuVvWw-?", *line->at))
		return false;
	if (line->at[1] != ' ' && line->at[1] != '\t')
		return false;
	*type = *line->at;
	line->at += 2;
	return true;
}

/* Does a name begin here? None begins with a digit, which would be a number of some other list. */
static bool is_name(const struct cursor *line)
{
	return line->at < line->end && *line->at != ' ' && *line->at != '\t' && !isdigit((unsigned char)*line->at);
}

/* What may stand behind a name and a tab: "[module]", or "file:line" by nm -l. */
static bool is_remark(const char *at, const char *end)
{
	if (at < end && *at == '[')
		return end[-1] == ']';
	while (end > at && (isdigit((unsigned char)end[-1]) || end[-1] == '?'))
		end--;
	return end > at && end[-1] == ':';
}

/* Takes the rest of the line: the name up to a tab, and what stands behind it. False: it is something else. */
static bool take_name(struct cursor line, struct symbol_entry *entry)
{
	const char *tab = memchr(line.at, '\t', (size_t)(line.end - line.at));
	const char *end = tab ? tab : line.end;

	if (!is_name(&line) || (tab && !is_remark(tab + 1, line.end)))
		return false;

	while (end > line.at && end[-1] == ' ')
		end--;
	entry->name = line.at;
	entry->name_size = (size_t)(end - line.at);
	if (tab && line.end - tab > 3 && tab[1] == '[' && line.end[-1] == ']') {
		entry->module = tab + 2;
		entry->module_size = (size_t)(line.end - tab) - 3;
	}
	return true;
}

static enum line_kind parse_line(struct cursor line, struct symbol_entry *entry)
{
	char type;

	*entry = (struct symbol_entry) { .size = 0 };
	if (skip_blanks(&line))			/* defined elsewhere: "         U name" */
		return take_type(&line, &type) && is_name(&line) ? LINE_OTHER : LINE_BAD;
	if (!take_number(&line, &entry->address))
		return LINE_BAD;
	take_number(&line, &entry->size);
	if (!take_type(&line, &type) || !take_name(line, entry))
		return LINE_BAD;
	entry->weak = type == 'W' || type == 'w';
	entry->limit = UINT64_MAX;
	if (entry->size == 0 && entry->address < UINT64_MAX - FUNCTION_MAX)
		entry->limit = entry->address + FUNCTION_MAX;
	return strchr("TtWwi", type) ? LINE_CODE : LINE_OTHER;
}

static bool full(const struct symbol_table *table, const char *path, char **error)
{
	if (symbol_table_starved(table))
		return util_fail(error, "cannot load symbols of %s: there is no memory for them; "
			"--memory gives more", path);
	return util_fail(error,
		"cannot load symbols of %s: more than %d symbols or %d MB of names; "
		"give a shorter list",
		path, SYMBOL_TABLE_MAX, SYMBOL_TABLE_NAMES_MAX >> 20);
}

bool sym_text_read(const char *text, size_t size, const char *path, struct symbol_table *table,
	char **error)
{
	const char *end = text + size, *next;
	size_t counts[LINE_BAD + 1] = { 0 }, number = 0, first_bad = 0;
	uint64_t addresses = 0;

	for (const char *at = text; at < end; at = next) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct cursor line = { .at = at, .end = newline ? newline : end };
		struct symbol_entry entry;
		enum line_kind kind;

		number++;
		next = newline ? newline + 1 : end;
		if (line.end > line.at && line.end[-1] == '\r')
			line.end--;
		if (line.at == line.end)
			continue;
		kind = parse_line(line, &entry);
		counts[kind]++;
		if (kind == LINE_BAD)
			symbol_table_refuse(table);
		if (kind == LINE_BAD && !first_bad)
			first_bad = number;
		addresses |= entry.address;
		if (kind == LINE_CODE && !symbol_table_add(table, &entry))
			return full(table, path, error);
	}
	if (size == 0)
		return util_fail(error, "cannot load symbols of %s: it is empty; "
			"give the kernel's ELF file, or the output of nm", path);
	if (counts[LINE_BAD] > counts[LINE_CODE] + counts[LINE_OTHER])
		return util_fail(error,
			"cannot load symbols of %s: neither ELF nor a list of symbols: line %zu is no address, "
			"type and name as nm writes them; give the kernel's ELF file, or the output of nm by "
			"--symbols",
			path, first_bad);
	if (counts[LINE_CODE] == 0)
		return util_fail(error, "cannot load symbols of %s: it names no code; "
			"give the kernel's ELF file, or the output of nm", path);
	if (addresses == 0)
		return util_fail(error,
			"cannot load symbols of %s: every address is 0, as kallsyms shows to "
			"ordinary users; copy it as root",
			path);
	return true;
}
