/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "symbol_table.h"

enum { OUTER_STEPS = 64 };		/* no honest file nests symbols deeper */

/*
 * The bits of a row's rank. Of aliases, the row with the largest rank answers. Below these bits are the underscores in
 * front of its name, counted down.
 */
enum {
	RANK_UNDERSCORES = 0x7f,
	RANK_PLAIN = 0x80,		/* no suffix of the compiler's, as in f.localalias */
	RANK_ENTRY = 0x100,		/* where a program begins: a function, unless there is another one */
	RANK_NO_LABEL = 0x200, RANK_STRONG = 0x400,
	RANK_NO_EDGE = 0x800,		/* its name may be that of a function */
	RANK_FIRST = 0x1000, RANK_TYPED = 0x2000, RANK_SIZED = 0x4000, RANK_PLACED = 0x8000,
	RANK_COVERS = 0x10000,		/* at least one byte: unlike a label at the end of a section */
};

struct symbol_row {
	uint64_t address, end;
	uint32_t name, module;		/* offsets into `names` */
	uint32_t outer;			/* the row that encloses this one and goes on behind it */
	uint32_t rank;
};

struct symbol_table {
	struct budget *budget;
	atomic_uint holders;
	struct symbol_row *rows;
	size_t count;
	uint32_t room;
	char *names;			/* zero-terminated; offset 0 is "" */
	size_t names_size, names_room;
	char module[64];		/* the module that was added last, at module_offset */
	uint32_t module_offset;
	uint32_t refused;
	bool starved;
};

struct symbol_table *symbol_table_new(struct budget *budget)
{
	struct symbol_table *table = util_alloc(sizeof(*table));

	table->budget = budget;
	atomic_init(&table->holders, 1);
	return table;
}

struct symbol_table *symbol_table_hold(struct symbol_table *table)
{
	atomic_fetch_add_explicit(&table->holders, 1, memory_order_relaxed);
	return table;
}

void symbol_table_free(struct symbol_table *table)
{
	/* Released by each holder, acquired by the last one, who frees what all of them have read. */
	if (!table || atomic_fetch_sub_explicit(&table->holders, 1, memory_order_acq_rel) != 1)
		return;
	budget_free(table->budget, table->rows, table->room * sizeof(*table->rows));
	budget_free(table->budget, table->names, table->names_room);
	free(table);
}

/*
 * Mapping symbols are AAELF "$a" "$d" "$t" "$x", with or without ".suffix", and RISC-V "$xrv64...". ".L"
 * labels should have been dropped by the assembler; RISC-V keeps them for relaxation.
 */
static bool is_function_name(const char *name, size_t size)
{
	if (size == 0)
		return false;
	if (name[0] == '$')
		return size > 2 && name[2] != '.' && !(size > 3 && memcmp(name, "$xrv", 4) == 0);
	return !(size >= 2 && name[0] == '.' && name[1] == 'L');
}

static bool is_full(const struct symbol_table *table, size_t text)
{
	return table->count == SYMBOL_TABLE_MAX ||
		table->names_size + text > SYMBOL_TABLE_NAMES_MAX;
}

static bool make_room(struct symbol_table *table, size_t text)
{
	size_t room = 2 * table->names_room + text + 32768;
	struct symbol_row *rows;
	char *names;

	if (is_full(table, text))
		return false;
	rows = budget_array(table->budget, table->rows, table->count, &table->room, sizeof(*rows));
	if (!rows)
		return false;
	table->rows = rows;
	if (table->names_size + text <= table->names_room)
		return true;
	names = budget_resize(table->budget, table->names, table->names_room, room);
	if (!names)
		return false;
	table->names = names;
	table->names_room = room;
	return true;
}

static uint32_t keep_text(struct symbol_table *table, const char *text, size_t size)
{
	size_t offset = table->names_size;

	memcpy(table->names + offset, text, size);
	table->names[offset + size] = '\0';
	table->names_size += size + 1;
	return (uint32_t)offset;
}

/* Symbols of a module come in a row, so remembering the last module is enough. */
static uint32_t keep_module(struct symbol_table *table, const char *text, size_t size)
{
	if (size == 0)
		return 0;
	if (strlen(table->module) != size || memcmp(table->module, text, size) != 0) {
		memcpy(table->module, text, size);
		table->module[size] = '\0';
		table->module_offset = keep_text(table, text, size);
	}
	return table->module_offset;
}

static bool ends_with(const char *name, size_t size, const char *end)
{
	size_t length = strlen(end);

	return size > length && memcmp(name + size - length, end, length) == 0;
}

static bool is_one_of(const char *const *words, const char *name, size_t size)
{
	while (*words && (strlen(*words) != size || memcmp(*words, name, size) != 0))
		words++;
	return *words;
}

/* The whole name, without underscores in front: a section's, or with a letter for its start or end, as in _etext. */
static bool is_edge(const char *name, size_t size)
{
	static const char *const edges[] = { "end", "begin", "stop", NULL };
	static const char *const sections[] = {
		"text", "data", "rodata", "bss", "sbss", "sdata", "code", "inittext", "initdata", "exittext",
		"exitdata", NULL,
	};

	return is_one_of(edges, name, size) || is_one_of(sections, name, size) ||
		(size && (*name == 's' || *name == 'e' || *name == 'b') && is_one_of(sections, name + 1, size - 1));
}

/*
 * Names as linker scripts give them, and those of sections, have less: none at all if no function has such a name.
 * `underscores`: so many in front.
 */
static uint32_t label_rank(const char *name, size_t size, uint32_t underscores)
{
	static const char *const begins[] = { "__start_", "__stop_", "__end_", "." };
	static const char *const ends[] = { "_start", "_begin", "_stop", "_end" };

	if (size - underscores == 5 && memcmp(name + underscores, "start", 5) == 0)
		return RANK_ENTRY | RANK_NO_EDGE;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (size > strlen(begins[i]) && memcmp(name, begins[i], strlen(begins[i])) == 0)
			return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_with(name, size, ends[i]))
			return RANK_NO_EDGE;
	return is_edge(name + underscores, size - underscores) ? 0 : RANK_NO_LABEL | RANK_NO_EDGE;
}

static uint32_t rank_of(const struct symbol_entry *entry, const char *name, size_t size)
{
	uint32_t underscores = 0;

	while (underscores < size && underscores < RANK_UNDERSCORES && name[underscores] == '_')
		underscores++;
	return (entry->limit > entry->address ? RANK_COVERS : 0) | (entry->apart ? 0 : RANK_PLACED) |
		(entry->size ? RANK_SIZED : 0) | (entry->typed ? RANK_TYPED : 0) | (entry->alias ? 0 : RANK_FIRST) |
		(entry->weak ? 0 : RANK_STRONG) | label_rank(name, size, underscores) |
		(memchr(name, '.', size) ? 0 : RANK_PLAIN) |
		(RANK_UNDERSCORES - underscores);
}

static size_t text_size(const char *text, size_t size, size_t most)
{
	return size ? strnlen(text, size < most ? size : most) : 0;
}

bool symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry)
{
	size_t name_size = text_size(entry->name, entry->name_size, SYMBOL_NAME_MAX);
	size_t module_size =
		text_size(entry->module, entry->module_size, sizeof(table->module) - 1);
	uint64_t end = entry->address + entry->size;
	struct symbol_row *row;

	if (!is_function_name(entry->name, name_size))
		return true;
	if (!make_room(table, name_size + module_size + 3)) {
		table->starved = !is_full(table, name_size + module_size + 3);
		return false;
	}
	if (table->names_size == 0)
		keep_text(table, "", 0);
	if (entry->size == 0 || end < entry->address || end > entry->limit)
		end = entry->limit;
	row = &table->rows[table->count++];
	*row = (struct symbol_row) {
		.address = entry->address,
		.end = end < entry->address ? entry->address : end,
		.name = keep_text(table, entry->name, name_size),
		.module = keep_module(table, entry->module, module_size),
		.outer = SYMBOL_NONE,
		.rank = rank_of(entry, entry->name, name_size),
	};
	return true;
}

bool symbol_table_starved(const struct symbol_table *table)
{
	return table->starved;
}

void symbol_table_refuse(struct symbol_table *table)
{
	table->refused += table->refused < UINT32_MAX;
}

uint32_t symbol_table_refused(const struct symbol_table *table)
{
	return table->refused;
}

/* Equal addresses keep the order of the file, which is also that of the names' offsets. */
static int by_address(const void *left, const void *right)
{
	const struct symbol_row *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static bool is_sorted(const struct symbol_table *table)
{
	for (size_t i = 1; i < table->count; i++) {
		if (table->rows[i - 1].address > table->rows[i].address)
			return false;
	}
	return true;
}

/*
 * Moves the best alias among the rows [first, last] to `last`, where symbol_table_find looks. An alias
 * without a size takes the size of one that has it.
 */
static void choose_alias(struct symbol_table *table, size_t first, size_t last)
{
	struct symbol_row *rows = table->rows, best;
	size_t chosen = first;
	const struct symbol_row *sized = NULL;

	for (size_t i = first; i <= last; i++) {
		if (rows[i].rank > rows[chosen].rank)
			chosen = i;
		if ((rows[i].rank & RANK_SIZED) && (!sized || rows[i].end > sized->end))
			sized = &rows[i];
	}
	best = rows[chosen];
	if (sized && !(best.rank & RANK_SIZED)) {
		best.end = sized->end;
		best.rank |= RANK_SIZED;
	}
	rows[chosen] = rows[last];
	rows[last] = best;
}

/*
 * Gives a row without a size its end, and links it to the row that encloses it. `before`: the last row that
 * was settled.
 */
static void settle(struct symbol_table *table, size_t index, uint32_t before)
{
	struct symbol_row *rows = table->rows, *row = &rows[index];
	uint32_t outer = before;

	while (outer != SYMBOL_NONE && rows[outer].end <= row->address)
		outer = rows[outer].outer;
	if (!(row->rank & (RANK_SIZED | RANK_PLACED)) && outer != SYMBOL_NONE && rows[outer].rank & RANK_SIZED)
		row->end = row->address;	/* a number that happens to be an address */
	if (!(row->rank & RANK_SIZED)) {
		if (index + 1 < table->count && rows[index + 1].address < row->end)
			row->end = rows[index + 1].address;
		if (outer != SYMBOL_NONE && rows[outer].end < row->end)
			row->end = rows[outer].end;
	}
	while (outer != SYMBOL_NONE && rows[outer].end <= row->end)
		outer = rows[outer].outer;
	row->outer = outer;
}

void symbol_table_sort(struct symbol_table *table)
{
	size_t first = 0;
	uint32_t before = SYMBOL_NONE;

	if (!is_sorted(table))
		qsort(table->rows, table->count, sizeof(*table->rows), by_address);
	for (size_t i = 0; i < table->count; i++) {
		if (i + 1 < table->count && table->rows[i + 1].address == table->rows[i].address)
			continue;
		choose_alias(table, first, i);
		settle(table, i, before);
		before = (uint32_t)i;
		first = i + 1;
	}
}

uint32_t symbol_table_count(const struct symbol_table *table)
{
	return (uint32_t)table->count;
}

struct symbol symbol_table_get(const struct symbol_table *table, uint32_t index)
{
	const struct symbol_row *row = &table->rows[index];

	return (struct symbol) {
		.address = row->address,
		.end = row->end,
		.name = table->names + row->name,
		.module = table->names + row->module,
		.sized = row->rank & RANK_SIZED,
	};
}

uint32_t symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	size_t behind = sorted_upto(table->rows, table->count, sizeof(struct symbol_row),
		offsetof(struct symbol_row, address), address);
	uint32_t index = behind ? (uint32_t)(behind - 1) : SYMBOL_NONE;

	for (int step = 0; index != SYMBOL_NONE && step < OUTER_STEPS; step++) {
		if (address < table->rows[index].end)
			return index;
		index = table->rows[index].outer;
	}
	return SYMBOL_NONE;
}

bool symbol_table_address(const struct symbol_table *table, const char *name, uint64_t *address)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->names + table->rows[i].name, name) == 0) {
			*address = table->rows[i].address;
			return true;
		}
	}
	return false;
}

uint32_t symbol_table_named(const struct symbol_table *table, const char *name, struct symbol *found, uint32_t most)
{
	size_t size = strlen(name);
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		const char *is = table->names + table->rows[i].name;
		uint32_t answers;

		if (strncmp(is, name, size) != 0 || (is[size] && is[size] != '.'))
			continue;
		if (count < most) {
			found[count] = symbol_table_get(table, i);
			answers = symbol_table_find(table, found[count].address);
			if (answers != SYMBOL_NONE && table->rows[answers].address == found[count].address)
				found[count].end = table->rows[answers].end;
		}
		count++;
	}
	return count;
}

/* ---- to demangle a name ---- */

struct output {
	char text[DEMANGLE_OUT_MAX];
	size_t size;
	jmp_buf full;
};

/*
 * libiberty cannot be told to stop, and a demangled text may double at every back reference. Leaving by
 * longjmp leaks at most the few hundred bytes of one punycode identifier that libiberty may hold.
 */
static void append(const char *text, size_t size, void *opaque)
{
	struct output *output = opaque;

	if (size > sizeof(output->text) - output->size)
		longjmp(output->full, 1);
	if (size)
		memcpy(output->text + output->size, text, size);
	output->size += size;
}

/* Without parameters, as perf shows it. "name.cold" keeps its suffix, which distinguishes it from "name". */
static bool demangle_cxx(const char *name, struct output *output)
{
	const char *suffix = strchr(name, '.');

	if (!cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append, output))
		return false;
	if (suffix)
		append(suffix, strlen(suffix), output);
	return true;
}

char *demangle(const char *name)
{
	struct output output = { .size = 0 };
	bool done;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	if (strnlen(name, DEMANGLE_IN_MAX + 1) > DEMANGLE_IN_MAX)
		return NULL;
	if (setjmp(output.full))
		return NULL;
	done = rust_demangle_callback(name, DMGL_NO_OPTS, append, &output);
	if (!done && name[1] == 'Z') {
		output.size = 0;
		done = demangle_cxx(name, &output);
	}
	return done && output.size ? util_copy(output.text, output.size) : NULL;
}

char *demangle_shown(const char *name)
{
	char *plain = demangle(name);
	const char *text = plain ? plain : name;
	char *shown = util_printable(text, strlen(text));

	free(plain);
	return shown;
}

/* ---- sym text ---- */

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
