#include <dwarf.h>
#include <endian.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "sym_dwarf.h"
#include "util.h"

/*
 * Larger files are mapped instead of read: hundreds of megabytes of which little is used. The
 * price: cutting such a file short while ktop reads it ends the program.
 */
enum { READ_MAX = 64 << 20, READ_SHARE = 16 };

enum {
	RANGES_MAX = 4 << 20, RANGES_TRIED_MAX = 64,
	SECTION_COST = 512,		/* what libelf keeps of each */
	UNIT_COST = 256,		/* what libdw keeps of each */
	LINE_COST = 80,			/* and, while it reads, of each byte of line program at most */
};

struct unit {
	Dwarf_Off die;
	bool paid;			/* for its lines, which libdw keeps */
};

struct range {				/* a compilation unit's code; one may have several */
	uint64_t low, high;
	uint32_t unit;
};

/*
 * Units are found by a walk over all of them: .debug_aranges is left out by clang, and incomplete
 * as soon as one object file comes from a compiler that leaves it out. libdw is used without
 * libdwfl, whose default is to ask debuginfod servers and wait.
 */
struct sym_dwarf {
	struct budget *budget;
	size_t paid;			/* for what the libraries hold */
	Elf *elf;
	Dwarf *dwarf;
	struct unit *units;
	uint32_t unit_count, unit_room;
	struct range *ranges;		/* sorted by low, then by high */
	uint32_t count, room;
};

static bool pay(struct sym_dwarf *dwarf, size_t bytes)
{
	if (!budget_take(dwarf->budget, bytes))
		return false;
	dwarf->paid += bytes;
	return true;
}

static bool add_range(struct sym_dwarf *dwarf, uint64_t low, uint64_t high)
{
	struct range *ranges = budget_array(dwarf->budget, dwarf->ranges, dwarf->count,
		&dwarf->room, sizeof(*ranges));

	if (!ranges || dwarf->count == RANGES_MAX)
		return false;
	dwarf->ranges = ranges;
	ranges[dwarf->count++] = (struct range){
		.low = low, .high = high, .unit = dwarf->unit_count - 1,
	};
	return true;
}

static bool add_unit(struct sym_dwarf *dwarf, Dwarf_Die *die)
{
	struct unit *units = budget_array(dwarf->budget, dwarf->units, dwarf->unit_count,
		&dwarf->unit_room, sizeof(*units));
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;

	if (!units || !pay(dwarf, UNIT_COST))
		return false;
	dwarf->units = units;
	units[dwarf->unit_count++] = (struct unit){ .die = dwarf_dieoffset(die) };
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low < high && !add_range(dwarf, low, high))
			return false;
	}
	return true;
}

static int by_low(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->high < b->high ? -1 : a->high > b->high;
}

/* False: there is no room for all of them. */
static bool walk_units(struct sym_dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (!add_unit(dwarf, &die))
			return false;
	}
	if (dwarf->count)
		qsort(dwarf->ranges, dwarf->count, sizeof(*dwarf->ranges), by_low);
	return true;
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

/* What a compressed section says that it holds; 0 when it is not compressed. */
static uint64_t inflated(int fd, Elf_Scn *section, const GElf_Shdr *header)
{
	struct { char magic[4]; uint8_t size[8]; } gnu;
	GElf_Chdr compressed;
	uint64_t size;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
	if (pread(fd, &gnu, sizeof(gnu), (off_t)header->sh_offset) != sizeof(gnu)
			|| memcmp(gnu.magic, "ZLIB", 4) != 0)
		return 0;
	memcpy(&size, gnu.size, sizeof(size));
	return be64toh(size);
}

/* For all that may be read into memory; false when there is no room for it. */
static bool pay_sections(struct sym_dwarf *dwarf, int fd, bool mapped)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count = 0;

	if (elf_getshdrnum(dwarf->elf, &count) != 0 || count > UINT32_MAX
			|| !pay(dwarf, count * SECTION_COST))
		return false;
	while ((section = elf_nextscn(dwarf->elf, section))) {
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS
				|| header.sh_flags & SHF_ALLOC)
			continue;
		size = inflated(fd, section, &header);
		if (!pay(dwarf, size) || (!mapped && !pay(dwarf, header.sh_size)))
			return false;
	}
	return true;
}

static bool open_dwarf(struct sym_dwarf *dwarf, int fd)
{
	size_t most = budget_share(dwarf->budget, READ_SHARE);
	struct stat facts;
	bool mapped;

	mapped = fstat(fd, &facts) != 0 || facts.st_size > READ_MAX || (size_t)facts.st_size > most;
	elf_version(EV_CURRENT);
	dwarf->elf = elf_begin(fd, mapped ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	if (!dwarf->elf || elf_kind(dwarf->elf) != ELF_K_ELF)
		return true;
	if (!pay_sections(dwarf, fd, mapped))
		return false;
	dwarf->dwarf = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
	return !dwarf->dwarf || !texts_end(dwarf->elf)	/* by now without compression */
		|| walk_units(dwarf);
}

struct sym_dwarf *sym_dwarf_open(int fd, struct budget *budget, bool *full)
{
	struct sym_dwarf *dwarf = util_alloc(sizeof(*dwarf));

	dwarf->budget = budget;
	*full = !open_dwarf(dwarf, fd);
	if (!*full && dwarf->count)
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
	budget_free(dwarf->budget, dwarf->units, dwarf->unit_room * sizeof(*dwarf->units));
	budget_free(dwarf->budget, dwarf->ranges, dwarf->room * sizeof(*dwarf->ranges));
	budget_give(dwarf->budget, dwarf->paid);
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

static bool has_lines(const char *name)
{
	return name && (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0);
}

/* Bytes of the unit's line program: its length stands before it (DWARF 5, 7.4 and 6.2.4). */
static uint64_t program_size(struct sym_dwarf *dwarf, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const Elf_Data *data;
	Dwarf_Word offset;
	uint32_t size;

	if (!next_section(dwarf->elf, NULL, has_lines, &data) || dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0
			|| data->d_size < sizeof(size) || offset > data->d_size - sizeof(size))
		return 0;
	memcpy(&size, (const char *)data->d_buf + offset, sizeof(size));
	return size < data->d_size - offset ? size : data->d_size - offset;
}

/* Before libdw reads the lines of a unit, once. */
static bool pay_lines(struct sym_dwarf *dwarf, struct unit *unit, Dwarf_Die *die)
{
	if (!unit->paid)
		unit->paid = pay(dwarf, program_size(dwarf, die) * LINE_COST);
	return unit->paid;
}

static char *line_in(struct sym_dwarf *dwarf, const struct range *range, uint64_t address,
	bool *full)
{
	struct unit *unit = &dwarf->units[range->unit];
	Dwarf_Die die;
	Dwarf_Line *line;

	if (address >= range->high || !dwarf_offdie(dwarf->dwarf, unit->die, &die))
		return NULL;
	*full = !pay_lines(dwarf, unit, &die);
	line = *full ? NULL : find_row(&die, address);
	return line ? describe(dwarf, &die, line) : NULL;
}

/*
 * Ranges may overlap: functions that the linker has thrown away sit at 0 and cover what is low. So
 * the nearest range that has a line for the address wins.
 */
char *sym_dwarf_line(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	size_t low = 0, high = dwarf->count;
	char *text = NULL;

	*full = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (int tried = 0; !text && !*full && low > 0 && tried < RANGES_TRIED_MAX; tried++)
		text = line_in(dwarf, &dwarf->ranges[--low], address, full);
	return text;
}
