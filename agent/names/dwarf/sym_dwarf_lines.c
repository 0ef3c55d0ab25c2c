/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "sym_dwarf.h"
#include "sym_dwarf_state.h"

enum {
	RANGES_TRIED_MAX = 64,		/* ranges that are looked at for one address, since ranges may overlap */
	LINE_COST = 80,			/* the most that libdw keeps for a byte of line program */
	FILE_SHOWN = 240,		/* bytes of a file's name in a line; longer ones are cut */
};

/* The part of `path` below `folder`, or all of it. */
static const char *below(const char *path, const char *folder)
{
	size_t size = folder ? strlen(folder) : 0;

	if (size == 0 || strncmp(path, folder, size) != 0)
		return path;
	path += size;
	if (folder[size - 1] != '/' && *path != '/')
		return path - size;
	while (path[0] == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	return path;
}

static const char *last_two_parts(const char *path)
{
	const char *last = path, *before = path;

	for (const char *at = path; *at; at++) {
		if (*at == '/' && at[1] && at[1] != '/') {
			before = last;
			last = at + 1;
		}
	}
	return before[0] == '/' || before[0] == '.' ? last : before;
}

/* A file of a unit, below the folder of the compilation if it is in there. NULL: not known. */
static const char *file_of(const struct sym_dwarf *dwarf, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attribute;
	const char *folder;

	if (!path)
		return NULL;
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (folder && !sym_dwarf_text_ends(dwarf, folder))
		folder = NULL;
	return below(path, folder);
}

static char *describe_file(const struct sym_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Line *line)
{
	const char *path = file_of(dwarf, unit, dwarf_linesrc(line, NULL, NULL));

	return path ? util_copy(path, strlen(path)) : NULL;
}

char *sym_dwarf_place(const struct sym_dwarf *dwarf, Dwarf_Die *unit, const char *path, uint64_t line)
{
	const char *file = file_of(dwarf, unit, path);

	return file && line ? util_format("%.*s:%" PRIu64, FILE_SHOWN, last_two_parts(file), line) : NULL;
}

static char *describe(const struct sym_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Line *line)
{
	int number;

	if (dwarf_lineno(line, &number) != 0 || number <= 0)
		return NULL;
	return sym_dwarf_place(dwarf, unit, dwarf_linesrc(line, NULL, NULL), (uint64_t)number);
}

size_t sym_dwarf_first_row(Dwarf_Lines *rows, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Addr start = 0;

		dwarf_lineaddr(dwarf_onesrcline(rows, middle), &start);
		if (start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool starts_at(Dwarf_Line *row, uint64_t address)
{
	Dwarf_Addr start;

	return row && dwarf_lineaddr(row, &start) == 0 && start == address;
}

/*
 * The row that covers the address. If several start there, the first that begins a statement is the
 * function's own line. The rows after it belong to what was inlined at its start. A row before it belongs to
 * the end of the function before.
 */
static Dwarf_Line *find_row(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Line *row = dwarf_getsrc_die(unit, address), *first;
	Dwarf_Lines *rows;
	size_t count, at;
	bool statement, end;

	if (!row || dwarf_getsrclines(unit, &rows, &count) != 0)
		return row;
	at = sym_dwarf_first_row(rows, count, address);
	for (; starts_at(first = dwarf_onesrcline(rows, at), address); at++) {
		if (dwarf_linebeginstatement(first, &statement) == 0 && statement &&
			dwarf_lineendsequence(first, &end) == 0 && !end)
			return first;
	}
	return row;
}

static bool has_lines(const char *name)
{
	return name && (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0);
}

/* The bytes of the unit's line program. Its length stands before it (DWARF 5, 7.4 and 6.2.4). */
static uint64_t program_size(struct sym_dwarf *dwarf, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const Elf_Data *data;
	Dwarf_Word offset;
	uint32_t size;

	if (!sym_dwarf_section(sym_dwarf_elf(dwarf), NULL, has_lines, &data) ||
			dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0 ||
			data->d_size < sizeof(size) || offset > data->d_size - sizeof(size))
		return 0;
	memcpy(&size, (const char *)data->d_buf + offset, sizeof(size));
	return size < data->d_size - offset ? size : data->d_size - offset;
}

bool sym_dwarf_pay_lines(struct sym_dwarf *dwarf, struct unit *unit, Dwarf_Die *die)
{
	if (!unit->paid)
		unit->paid = sym_dwarf_pay(dwarf, program_size(dwarf, die) * LINE_COST);
	return unit->paid;
}

bool sym_dwarf_rows(struct sym_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Lines **rows, size_t *count)
{
	bool read = dwarf_getsrclines(unit, rows, count) == 0;

	dwarf->damaged |= !read && dwarf_hasattr(unit, DW_AT_stmt_list);
	return read;
}

/* Does the row tell its file? A path with nothing behind its last "/" is of a table of names that is damaged. */
static bool has_file(Dwarf_Line *row)
{
	const char *path = dwarf_linesrc(row, NULL, NULL);

	return path && *path && path[strlen(path) - 1] != '/';
}

/* The last row that starts at or before the address. */
static Dwarf_Line *row_at(Dwarf_Die *unit, uint64_t address)
{
	return dwarf_getsrc_die(unit, address);
}

/* What is asked of an address: how its row is found, and what is told of that. */
struct asking {
	Dwarf_Line *(*find)(Dwarf_Die *unit, uint64_t address);
	char *(*describe)(const struct sym_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Line *line);
};

static char *line_in(struct sym_dwarf *dwarf, const struct range *range, uint64_t address,
	const struct asking *asking, bool *full)
{
	struct unit *unit = &dwarf->units[range->unit];
	Dwarf_Line *line = NULL;
	Dwarf_Lines *rows;
	Dwarf_Die die;
	size_t count;

	if (address >= range->high || !dwarf_offdie(dwarf->dwarf, unit->die, &die))
		return NULL;
	*full = !sym_dwarf_pay_lines(dwarf, unit, &die);
	if (!*full && sym_dwarf_rows(dwarf, &die, &rows, &count))
		line = asking->find(&die, address);
	dwarf->damaged |= line && !has_file(line);
	return line ? asking->describe(dwarf, &die, line) : NULL;
}

/*
 * Ranges may overlap: functions that the linker has discarded begin at 0 and cover low addresses. So the
 * nearest range that has a line for the address counts.
 */
static char *find_line(struct sym_dwarf *dwarf, uint64_t address, const struct asking *asking, bool *full)
{
	uint32_t at = sym_dwarf_ranges_from(dwarf, address);
	char *text = NULL;

	*full = false;
	for (int tried = 0; !text && !*full && at > 0 && tried < RANGES_TRIED_MAX; tried++)
		text = line_in(dwarf, &dwarf->ranges[--at], address, asking, full);
	return text;
}

char *sym_dwarf_line(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	return find_line(dwarf, address, &(struct asking) { find_row, describe }, full);
}

char *sym_dwarf_row_line(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	return find_line(dwarf, address, &(struct asking) { row_at, describe }, full);
}

char *sym_dwarf_file(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	return find_line(dwarf, address, &(struct asking) { find_row, describe_file }, full);
}
