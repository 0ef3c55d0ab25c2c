/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "code_lines.h"
#include "sym_dwarf.h"
#include "sym_dwarf_state.h"

enum {
	RANGES_TRIED_MAX = 64,		/* ranges that are looked at for one stretch, since ranges may overlap */
	LEVELS_MAX = 64,		/* nested functions, and namespaces */
	ENTRIES_MAX = 1 << 20,		/* entries looked at for one stretch */
	PIECES_MAX = 256,		/* ranges of one inlined function */
	NAME_MAX_TOLD = 1024,		/* bytes of a name; longer ones are cut */
	PATH_MAX_TOLD = 4096,		/* bytes of a path; files with longer ones are left out */
};

struct walk {
	struct sym_dwarf *dwarf;
	uint64_t low, high;
	struct code_lines *code;
	Dwarf_Files *files;		/* of the unit; NULL: none */
	size_t file_count;
	int entries;			/* looked at so far */
};

/* The whole path, in fresh memory: it is below the folder of the compilation, unless it begins at the root. */
static char *whole_path(const char *folder, const char *path)
{
	if (!folder || path[0] == '/')
		return util_copy(path, strlen(path));
	return util_format("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);
}

static uint16_t file_of(const struct walk *walk, const char *path)
{
	struct code_lines *code = walk->code;
	char *whole;

	if (!path || !*path || strnlen(path, PATH_MAX_TOLD) == PATH_MAX_TOLD)
		return CODE_NO_FILE;
	whole = whole_path(code->folder, path);
	for (size_t i = 0; i < code->file_count; i++)
		if (strcmp(code->files[i], whole) == 0) {
			free(whole);
			return (uint16_t)i;
		}
	if (code->file_count == CODE_FILES_MAX || strlen(whole) >= PATH_MAX_TOLD) {
		free(whole);
		return CODE_NO_FILE;
	}
	code->files = util_grow(code->files, code->file_count + 1, sizeof(*code->files));
	code->files[code->file_count] = whole;
	return (uint16_t)code->file_count++;
}

/* ---- lines ---- */

/* Of several rows at one address, the last is the one that has code. */
static void add_row(struct code_lines *code, const struct code_row *row)
{
	if (code->row_count && code->rows[code->row_count - 1].address == row->address) {
		code->rows[code->row_count - 1] = *row;
		return;
	}
	if (code->row_count == CODE_ROWS_MAX)
		return;
	if ((code->row_count & (code->row_count - 1)) == 0)
		code->rows = util_grow(code->rows, 2 * code->row_count + 1, sizeof(*code->rows));
	code->rows[code->row_count++] = *row;
}

/* The row at an index of the unit's table. False: it begins at or behind the end of the stretch. */
static bool take_row(struct walk *walk, Dwarf_Line *line)
{
	struct code_row row = { .file = CODE_NO_FILE };
	bool end = false;
	int number = 0;

	if (dwarf_lineaddr(line, &row.address) != 0 || row.address >= walk->high)
		return false;
	if (row.address < walk->low)
		row.address = walk->low;
	dwarf_lineendsequence(line, &end);
	if (!end && dwarf_lineno(line, &number) == 0 && number > 0) {
		row.line = (uint32_t)number;
		row.file = file_of(walk, dwarf_linesrc(line, NULL, NULL));
	}
	add_row(walk->code, &row);
	return true;
}

/* The rows of the stretch, from the one that covers its beginning. */
static void add_rows(struct walk *walk, Dwarf_Die *unit)
{
	Dwarf_Lines *rows;
	Dwarf_Addr start = 0;
	size_t count, at;

	if (!sym_dwarf_rows(walk->dwarf, unit, &rows, &count))
		return;
	at = sym_dwarf_first_row(rows, count, walk->low);
	if (at < count)
		dwarf_lineaddr(dwarf_onesrcline(rows, at), &start);
	if (at > 0 && (at == count || start > walk->low))
		at--;
	while (at < count && take_row(walk, dwarf_onesrcline(rows, at)))
		at++;
}

/* ---- inlined functions ---- */

static const char *text_of(const struct walk *walk, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && sym_dwarf_text_ends(walk->dwarf, text) ? text : NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) == 0 && number < UINT32_MAX ?
		(uint32_t)number : 0;
}

static uint16_t numbered_file(struct walk *walk, uint32_t index)
{
	return walk->files && index < walk->file_count ?
		file_of(walk, dwarf_filesrc(walk->files, index, NULL, NULL)) : CODE_NO_FILE;
}

static void add_inline(struct walk *walk, Dwarf_Die *die, struct code_inline piece)
{
	struct code_lines *code = walk->code;
	const char *name = text_of(walk, die, DW_AT_linkage_name);

	if (code->inline_count == CODE_INLINES_MAX)
		return;
	if (!name)
		name = text_of(walk, die, DW_AT_name);
	piece.name = util_copy(name ? name : "", name ? strnlen(name, NAME_MAX_TOLD) : 0);
	piece.call_line = number_of(die, DW_AT_call_line);
	piece.call_file = numbered_file(walk, number_of(die, DW_AT_call_file));
	if ((code->inline_count & (code->inline_count - 1)) == 0)
		code->inlines = util_grow(code->inlines, 2 * code->inline_count + 1, sizeof(*code->inlines));
	code->inlines[code->inline_count++] = piece;
}

/* Has this entry code in the stretch? What is inlined there is noted. */
static bool touches(struct walk *walk, Dwarf_Die *die, uint32_t depth)
{
	Dwarf_Addr base = 0, low, high;
	bool any = false;
	ptrdiff_t at = 0;

	for (int i = 0; i < PIECES_MAX && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0; i++) {
		if (low >= high || low >= walk->high || high <= walk->low)
			continue;
		any = true;
		if (dwarf_tag(die) == DW_TAG_inlined_subroutine)
			add_inline(walk, die, (struct code_inline) { .low = low, .high = high, .depth = depth });
	}
	return any;
}

static bool leads_on(struct walk *walk, Dwarf_Die *die, uint32_t depth)
{
	return sym_dwarf_has_functions(die) || (sym_dwarf_is_code(die) && touches(walk, die, depth));
}

static void note_function(struct walk *walk, Dwarf_Die *die)
{
	if (walk->code->line || dwarf_haspc(die, walk->low) != 1)
		return;
	walk->code->line = number_of(die, DW_AT_decl_line);
	walk->code->file = numbered_file(walk, number_of(die, DW_AT_decl_file));
}

static void descend(struct walk *walk, Dwarf_Die *parent, int level, uint32_t depth)
{
	Dwarf_Die child;
	int more = level < LEVELS_MAX ? dwarf_child(parent, &child) : 1;

	for (; more == 0 && walk->entries < ENTRIES_MAX; more = dwarf_siblingof(&child, &child)) {
		walk->entries++;
		if (!leads_on(walk, &child, depth))
			continue;
		if (dwarf_tag(&child) == DW_TAG_subprogram)
			note_function(walk, &child);
		descend(walk, &child, level + 1, depth + (dwarf_tag(&child) == DW_TAG_inlined_subroutine));
	}
}

/* The first instructions may have none, such as those of a part that the compiler has split off a function. */
static bool has_line(const struct code_lines *code)
{
	for (size_t i = 0; i < code->row_count; i++)
		if (code->rows[i].line)
			return true;
	return false;
}

static void note_folder(struct walk *walk, Dwarf_Die *unit)
{
	const char *folder = text_of(walk, unit, DW_AT_comp_dir);
	size_t size = folder ? strnlen(folder, PATH_MAX_TOLD) : 0;

	free(walk->code->folder);
	walk->code->folder = size && size < PATH_MAX_TOLD ? util_copy(folder, size) : NULL;
}

/* False: this unit has no line for the stretch. */
static bool walk_unit(struct walk *walk, const struct range *range, bool *full)
{
	struct unit *unit = &walk->dwarf->units[range->unit];
	Dwarf_Die die;

	if (walk->low >= range->high || !dwarf_offdie(walk->dwarf->dwarf, unit->die, &die))
		return false;
	*full = !sym_dwarf_pay_lines(walk->dwarf, unit, &die) || !sym_dwarf_pay_unit(walk->dwarf, unit, &die);
	if (*full)
		return false;
	note_folder(walk, &die);
	add_rows(walk, &die);
	if (!has_line(walk->code))
		return false;
	if (dwarf_getsrcfiles(&die, &walk->files, &walk->file_count) != 0)
		walk->files = NULL;
	descend(walk, &die, 0, 0);
	return true;
}

struct code_lines *sym_dwarf_code(struct sym_dwarf *dwarf, uint64_t low, uint64_t high, bool *full)
{
	struct walk walk = { .dwarf = dwarf, .low = low, .high = high, .code = code_lines_new() };
	uint32_t at = sym_dwarf_ranges_from(dwarf, low);
	bool found = false;

	*full = false;
	for (int tried = 0; !found && !*full && at > 0 && tried < RANGES_TRIED_MAX; tried++) {
		walk.code->row_count = 0;
		found = walk_unit(&walk, &dwarf->ranges[--at], full);
	}
	if (found)
		return walk.code;
	code_lines_free(walk.code);
	return NULL;
}
