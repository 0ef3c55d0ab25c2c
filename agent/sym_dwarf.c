#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sym_dwarf.h"
#include "util.h"

/*
 * Larger files are mapped instead of read: hundreds of megabytes of which little is used. The
 * price: cutting such a file short while ktop reads it ends the program.
 */
enum { READ_MAX = 64 << 20 };

enum { UNITS_MAX = 4 << 20, UNITS_TRIED_MAX = 64 };

struct unit_range {			/* a compilation unit's code; one may have several */
	uint64_t low, high;
	Dwarf_Off die;
};

/*
 * Units are found by a walk over all of them: .debug_aranges is left out by clang, and incomplete
 * as soon as one object file comes from a compiler that leaves it out. libdw is used without
 * libdwfl, whose default is to ask debuginfod servers and wait.
 */
struct sym_dwarf {
	Elf *elf;
	Dwarf *dwarf;
	struct unit_range *units;	/* sorted by low, then by high */
	size_t count, room;
};

static bool add_range(struct sym_dwarf *dwarf, uint64_t low, uint64_t high, Dwarf_Off die)
{
	if (dwarf->count == UNITS_MAX)
		return false;
	if (dwarf->count == dwarf->room) {
		size_t room = dwarf->room ? 2 * dwarf->room : 256;
		struct unit_range *units = realloc(dwarf->units, room * sizeof(*units));

		if (!units)
			return false;
		dwarf->units = units;
		dwarf->room = room;
	}
	dwarf->units[dwarf->count++] = (struct unit_range){ .low = low, .high = high, .die = die };
	return true;
}

static bool add_unit(struct sym_dwarf *dwarf, Dwarf_Die *die)
{
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low < high && !add_range(dwarf, low, high, dwarf_dieoffset(die)))
			return false;
	}
	return true;
}

static int by_low(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->high < b->high ? -1 : a->high > b->high;
}

static void walk_units(struct sym_dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (!add_unit(dwarf, &die))
			break;
	}
	if (dwarf->count)
		qsort(dwarf->units, dwarf->count, sizeof(*dwarf->units), by_low);
}

static bool is_text(const char *name)
{
	return name && (strcmp(name, ".debug_str") == 0 || strcmp(name, ".debug_line_str") == 0 ||
		strcmp(name, ".zdebug_str") == 0 || strcmp(name, ".zdebug_line_str") == 0);
}

static bool has_texts(const char *name)
{
	return is_text(name) ||
		(name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0));
}

/* The section behind `section` for which `wanted` holds, and its bytes; NULL: no more. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, bool (*wanted)(const char *name),
	const Elf_Data **data)
{
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
				!wanted(elf_strptr(elf, names, header.sh_name)))
			continue;
		*data = elf_getdata(section, NULL);
		if (*data && (*data)->d_buf && (*data)->d_size)
			return section;
	}
	return NULL;
}

/* libdw reads texts up to their zero, wherever that is: does each section of texts end with one? */
static bool texts_end(Elf *elf)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;

	while ((section = next_section(elf, section, is_text, &data))) {
		if (((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

/* Nor does it look whether a text begins and ends inside of its section: here. */
static bool text_ends(Elf *elf, const char *text)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;

	while ((section = next_section(elf, section, has_texts, &data))) {
		uintptr_t at = (uintptr_t)text - (uintptr_t)data->d_buf;

		if (at < data->d_size && memchr(text, '\0', data->d_size - at))
			return true;
	}
	return false;
}

struct sym_dwarf *sym_dwarf_open(int fd)
{
	struct sym_dwarf *dwarf = util_alloc(sizeof(*dwarf));
	struct stat facts;
	Elf_Cmd how = ELF_C_READ;

	elf_version(EV_CURRENT);
	if (fstat(fd, &facts) == 0)
		how = facts.st_size > READ_MAX ? ELF_C_READ_MMAP : ELF_C_READ;
	dwarf->elf = elf_begin(fd, how, NULL);
	if (dwarf->elf)
		dwarf->dwarf = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
	if (dwarf->dwarf && texts_end(dwarf->elf))	/* by now without compression */
		walk_units(dwarf);
	if (dwarf->count)
		return dwarf;
	sym_dwarf_close(dwarf);
	return NULL;
}

void sym_dwarf_close(struct sym_dwarf *dwarf)
{
	if (!dwarf)
		return;
	dwarf_end(dwarf->dwarf);
	elf_end(dwarf->elf);
	free(dwarf->units);
	free(dwarf);
}

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

static char *describe(const struct sym_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Line *line)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	Dwarf_Attribute attribute;
	const char *folder;
	int number;

	if (!path || dwarf_lineno(line, &number) != 0 || number <= 0)
		return NULL;
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (folder && !text_ends(dwarf->elf, folder))
		folder = NULL;
	return util_format("%s:%d", last_two_parts(below(path, folder)), number);
}

/* The first row that does not start before the address; rows are in order of address. */
static size_t first_row_at(Dwarf_Lines *rows, size_t count, uint64_t address)
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
 * The row that covers the address. Of several at the very address the first that begins a
 * statement: it is the function's own. Those behind it tell of what was inlined at its start; one
 * before it, of the end of the function before.
 */
static Dwarf_Line *find_row(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Line *row = dwarf_getsrc_die(unit, address), *first;
	Dwarf_Lines *rows;
	size_t count, at;
	bool statement, end;

	if (!row || dwarf_getsrclines(unit, &rows, &count) != 0)
		return row;
	at = first_row_at(rows, count, address);
	for (; starts_at(first = dwarf_onesrcline(rows, at), address); at++) {
		if (dwarf_linebeginstatement(first, &statement) == 0 && statement
			&& dwarf_lineendsequence(first, &end) == 0 && !end)
			return first;
	}
	return row;
}

static char *line_in(struct sym_dwarf *dwarf, const struct unit_range *range, uint64_t address)
{
	Dwarf_Die unit;
	Dwarf_Line *line;

	if (address >= range->high || !dwarf_offdie(dwarf->dwarf, range->die, &unit))
		return NULL;
	line = find_row(&unit, address);
	return line ? describe(dwarf, &unit, line) : NULL;
}

/*
 * Ranges may overlap: functions that the linker has thrown away sit at 0 and cover what is low. So
 * the nearest range that has a line for the address wins.
 */
char *sym_dwarf_line(struct sym_dwarf *dwarf, uint64_t address)
{
	size_t low = 0, high = dwarf->count;
	char *text = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf->units[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (int tried = 0; !text && low > 0 && tried < UNITS_TRIED_MAX; tried++)
		text = line_in(dwarf, &dwarf->units[--low], address);
	return text;
}
