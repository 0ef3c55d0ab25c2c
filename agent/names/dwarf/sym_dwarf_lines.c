/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/linux/boot_image.h"
#include "sym_dwarf.h"
#include "sym_dwarf_state.h"

enum {
	RANGES_TRIED_MAX = 64,		/* ranges looked at for one address or stretch, since they may overlap */
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

/* ---- inlined functions ---- */

enum {
	LEVELS_MAX = 64,		/* nested functions, and namespaces */
	ENTRIES_MAX = 1 << 20,		/* entries looked at for one address, or one stretch */
	NAME_MAX_TOLD = 1024,		/* bytes of a name; longer ones are cut */
	FORM_COST = 128,		/* bytes that libdw keeps for each abbreviation */
};

struct walk {
	struct sym_dwarf *dwarf;
	uint64_t address;
	bool calls;			/* where functions are called is told, and not their names */
	int entries;			/* looked at so far */
	Dwarf_Die unit;
	FILE *told;			/* one line for each function */
};

static const char *text_of(const struct walk *walk, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && sym_dwarf_text_ends(walk->dwarf, text) ? text : NULL;
}

static void put(FILE *to, const char *text, size_t most)
{
	for (size_t i = 0; text && text[i] && i < most; i++)
		putc(text[i] == '\n' ? '?' : text[i], to);
}

/* Adds a function's name: the linkage name if there is one, since demangling it gives all namespaces. */
static void add_name(struct walk *walk, Dwarf_Die *die)
{
	const char *name = text_of(walk, die, DW_AT_linkage_name);

	put(walk->told, name ? name : text_of(walk, die, DW_AT_name), NAME_MAX_TOLD);
	putc('\n', walk->told);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) == 0 ? number : 0;
}

/* Adds the line that calls the function; an empty one if that is not known. */
static void add_call(struct walk *walk, Dwarf_Die *die)
{
	uint64_t index = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;
	char *line = NULL;

	if (dwarf_getsrcfiles(&walk->unit, &files, &count) == 0 && index < count)
		line = sym_dwarf_place(walk->dwarf, &walk->unit, dwarf_filesrc(files, index, NULL, NULL),
			number_of(die, DW_AT_call_line));
	put(walk->told, line, SIZE_MAX);
	putc('\n', walk->told);
	free(line);
}

/* Can this entry contain the address's code? `*covers`: it is known to. */
static bool leads_on(const struct walk *walk, Dwarf_Die *die, bool *covers)
{
	*covers = sym_dwarf_is_code(die) && dwarf_haspc(die, walk->address) == 1;
	return *covers || sym_dwarf_has_functions(die);
}

/* True: the address was found, so the search ends. */
static bool descend(struct walk *walk, Dwarf_Die *parent, int level)
{
	Dwarf_Die child;
	bool covers;
	int more = level < LEVELS_MAX ? dwarf_child(parent, &child) : 1;

	for (; more == 0 && walk->entries < ENTRIES_MAX; more = dwarf_siblingof(&child, &child)) {
		walk->entries++;
		if (!leads_on(walk, &child, &covers))
			continue;
		if (covers && dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			(walk->calls ? add_call : add_name)(walk, &child);
		if (descend(walk, &child, level + 1) || covers)
			return true;
	}
	return false;
}

/* Of its entries, libdw keeps the abbreviations. */
bool sym_dwarf_pay_unit(struct sym_dwarf *dwarf, struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Off at = 0;
	size_t length;

	while (!unit->walked) {
		const Dwarf_Abbrev *form;

		if (!sym_dwarf_pay(dwarf, FORM_COST))
			return false;
		form = dwarf_getabbrev(die, at, &length);
		unit->walked = !form || form == DWARF_END_ABBREV;
		at += length;
	}
	return true;
}

static bool walk_unit(struct walk *walk, const struct range *range, bool *full)
{
	struct unit *unit = &walk->dwarf->units[range->unit];

	if (walk->address >= range->high || !dwarf_offdie(walk->dwarf->dwarf, unit->die, &walk->unit))
		return false;
	*full = !sym_dwarf_pay_unit(walk->dwarf, unit, &walk->unit) ||
		(walk->calls && !sym_dwarf_pay_lines(walk->dwarf, unit, &walk->unit));
	return !*full && descend(walk, &walk->unit, 0);
}

static void walk_units(struct walk *walk, bool *full)
{
	uint32_t at = sym_dwarf_ranges_from(walk->dwarf, walk->address);

	for (int tried = 0; at > 0 && tried < RANGES_TRIED_MAX && !*full; tried++)
		if (walk_unit(walk, &walk->dwarf->ranges[--at], full))
			break;
}

/* `last`: what stands behind the lines of the functions; NULL: nothing. */
static char *tell(struct walk *walk, const char *last, bool *full)
{
	char *text = NULL;
	size_t size;

	walk->told = *full ? NULL : util_text_stream(&text, &size);
	if (!walk->told) {
		*full = true;
		return NULL;
	}
	walk_units(walk, full);
	put(walk->told, last, SIZE_MAX);
	if (util_text_whole(walk->told, &text))
		return text;
	*full = true;
	free(text);
	return NULL;
}

char *sym_dwarf_inlined(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	*full = false;
	return tell(&(struct walk) { .dwarf = dwarf, .address = address }, NULL, full);
}

char *sym_dwarf_lines_at(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	char *row = sym_dwarf_row_line(dwarf, address, full);
	char *text = tell(&(struct walk) { .dwarf = dwarf, .address = address, .calls = true }, row, full);

	free(row);
	return text;
}

/* ---- without libdw's indices ---- */

/*
 * ELF files whose sections are packed by zstd, as debug sections of kernels are: libelf and libdw know zstd from
 * version 0.189 on only. Such a file is made once more, in memory, with these sections unpacked behind its end.
 */

enum {
	ZSTD = 2,			/* ELFCOMPRESS_ZSTD, which older headers do not have */
	ALIGN = 16,
	BLOCK = 128 << 10, BLOCK_LEAST = 4,	/* bytes of zstd's largest block; and packed, of its smallest one */
};

#define IMAGE_MOST (UINT64_C(1) << 40)	/* bytes; no file is larger */

struct making {
	Elf *elf;
	GElf_Ehdr header;
	uint64_t file_size;
	uint64_t end;			/* of the image so far */
};

static bool is_packed(Elf_Scn *section, GElf_Shdr *header, GElf_Chdr *packed)
{
	return gelf_getshdr(section, header) && header->sh_flags & SHF_COMPRESSED && header->sh_type != SHT_NOBITS &&
		gelf_getchdr(section, packed) && packed->ch_type == ZSTD;
}

/* Where the section is once it is unpacked. UINT64_MAX: the image would be too large. */
static uint64_t take_place(struct making *making, const GElf_Chdr *packed)
{
	uint64_t at = (making->end + ALIGN - 1) / ALIGN * ALIGN;

	if (at > IMAGE_MOST || packed->ch_size > IMAGE_MOST - at)
		return UINT64_MAX;
	making->end = at + packed->ch_size;
	return at;
}

/* Counts the packed sections, and the bytes up to the end of the last one. False: too many, or they cannot be. */
static bool measure(struct making *making, size_t *count)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	*count = 0;
	making->end = making->file_size;
	while ((section = elf_nextscn(making->elf, section))) {
		if (!is_packed(section, &header, &packed))
			continue;
		if (packed.ch_size / BLOCK > header.sh_size / BLOCK_LEAST || take_place(making, &packed) == UINT64_MAX)
			return false;
		++*count;
	}
	return true;
}

/* Writes the header of a section into the image, in the file's own form. */
static bool put_header(const struct making *making, uint8_t *image, size_t index, GElf_Shdr *header)
{
	size_t size = gelf_fsize(making->elf, ELF_T_SHDR, 1, EV_CURRENT);
	uint64_t at = making->header.e_shoff + index * size;
	Elf32_Shdr narrow = {
		.sh_name = header->sh_name, .sh_type = header->sh_type, .sh_flags = (Elf32_Word)header->sh_flags,
		.sh_addr = (Elf32_Addr)header->sh_addr, .sh_offset = (Elf32_Off)header->sh_offset,
		.sh_size = (Elf32_Word)header->sh_size, .sh_link = header->sh_link, .sh_info = header->sh_info,
		.sh_addralign = (Elf32_Word)header->sh_addralign, .sh_entsize = (Elf32_Word)header->sh_entsize,
	};
	bool wide = making->header.e_ident[EI_CLASS] == ELFCLASS64;
	Elf_Data from = { .d_type = ELF_T_SHDR, .d_version = EV_CURRENT, .d_size = size }, to = from;

	if (making->header.e_shentsize != size || at < making->header.e_shoff ||
			at > making->file_size || making->file_size - at < size || (!wide && making->end > UINT32_MAX))
		return false;
	from.d_buf = wide ? (void *)header : &narrow;
	to.d_buf = image + at;
	return gelf_xlatetof(making->elf, &to, &from, making->header.e_ident[EI_DATA]);
}

static bool unpack_section(struct making *making, uint8_t *image, Elf_Scn *section, GElf_Shdr *header,
	const GElf_Chdr *packed)
{
	size_t head = gelf_fsize(making->elf, ELF_T_CHDR, 1, EV_CURRENT);
	uint64_t at = take_place(making, packed);

	if (header->sh_offset > making->file_size || header->sh_size > making->file_size - header->sh_offset ||
			header->sh_size < head || !unpack_zstd_all(image + header->sh_offset + head,
				header->sh_size - head, image + at, packed->ch_size))
		return false;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_offset = at;
	header->sh_size = packed->ch_size;
	header->sh_addralign = packed->ch_addralign;
	return put_header(making, image, elf_ndxscn(section), header);
}

static bool unpack_sections(struct making *making, uint8_t *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	making->end = making->file_size;
	while ((section = elf_nextscn(making->elf, section)))
		if (is_packed(section, &header, &packed) &&
				!unpack_section(making, image, section, &header, &packed))
			return false;
	return true;
}

static bool read_all(int fd, uint8_t *to, uint64_t size)
{
	for (uint64_t at = 0; at < size;) {
		ssize_t got = pread(fd, to + at, size - at, (off_t)at);

		if (got <= 0)
			return false;
		at += (uint64_t)got;
	}
	return true;
}

/* The file, with room behind it. NULL: there is no memory. */
static uint8_t *image_of(const struct making *making, int fd, bool map, bool *read)
{
	uint8_t *image = mmap(NULL, making->end, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*read = true;
	if (image == MAP_FAILED)
		return NULL;
	if (!map)
		*read = read_all(fd, image, making->file_size);
	else
		*read = mmap(image, making->file_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) !=
			MAP_FAILED;
	return image;
}

enum elf_plain_state elf_plain_make(struct elf_plain *plain, Elf *elf, int fd, bool map, struct budget *budget)
{
	struct making making = { .elf = elf };
	struct stat facts;
	size_t count;
	bool read;

	*plain = (struct elf_plain) { .image = NULL };
	if (!gelf_getehdr(elf, &making.header) || fstat(fd, &facts) != 0 || facts.st_size <= 0)
		return ELF_PLAIN_DAMAGED;
	making.file_size = (uint64_t)facts.st_size;
	if (!measure(&making, &count))
		return ELF_PLAIN_DAMAGED;
	if (!count)
		return ELF_PLAIN_ALREADY;
	plain->size = making.end;
	plain->paid = making.end - (map ? making.file_size : 0);
	if (!budget_take(budget, plain->paid))
		return ELF_PLAIN_FULL;
	plain->image = image_of(&making, fd, map, &read);
	if (plain->image && read && unpack_sections(&making, plain->image))
		return ELF_PLAIN_MADE;
	if (!plain->image)
		budget_give(budget, plain->paid);
	read = plain->image;
	elf_plain_clear(plain, budget);
	return read ? ELF_PLAIN_DAMAGED : ELF_PLAIN_FULL;
}

void elf_plain_clear(struct elf_plain *plain, struct budget *budget)
{
	if (!plain->image)
		return;
	munmap(plain->image, plain->size);
	budget_give(budget, plain->paid);
	*plain = (struct elf_plain) { .image = NULL };
}

/* ---- where code is ---- */

enum {
	PIECES_MAX = 256,		/* ranges of one inlined function */
	PATH_MAX_TOLD = 4096,		/* bytes of a path; files with longer ones are left out */
};

struct code_walk {
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

static uint16_t code_file_of(const struct code_walk *walk, const char *path)
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
static bool take_row(struct code_walk *walk, Dwarf_Line *line)
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
		row.file = code_file_of(walk, dwarf_linesrc(line, NULL, NULL));
	}
	add_row(walk->code, &row);
	return true;
}

/* The rows of the stretch, from the one that covers its beginning. */
static void add_rows(struct code_walk *walk, Dwarf_Die *unit)
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

static const char *code_text_of(const struct code_walk *walk, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && sym_dwarf_text_ends(walk->dwarf, text) ? text : NULL;
}

static uint32_t code_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) == 0 && number < UINT32_MAX ?
		(uint32_t)number : 0;
}

static uint16_t numbered_file(struct code_walk *walk, uint32_t index)
{
	return walk->files && index < walk->file_count ?
		code_file_of(walk, dwarf_filesrc(walk->files, index, NULL, NULL)) : CODE_NO_FILE;
}

static void add_inline(struct code_walk *walk, Dwarf_Die *die, struct code_inline piece)
{
	struct code_lines *code = walk->code;
	const char *name = code_text_of(walk, die, DW_AT_linkage_name);

	if (code->inline_count == CODE_INLINES_MAX)
		return;
	if (!name)
		name = code_text_of(walk, die, DW_AT_name);
	piece.name = util_copy(name ? name : "", name ? strnlen(name, NAME_MAX_TOLD) : 0);
	piece.call_line = code_number_of(die, DW_AT_call_line);
	piece.call_file = numbered_file(walk, code_number_of(die, DW_AT_call_file));
	if ((code->inline_count & (code->inline_count - 1)) == 0)
		code->inlines = util_grow(code->inlines, 2 * code->inline_count + 1, sizeof(*code->inlines));
	code->inlines[code->inline_count++] = piece;
}

/* Has this entry code in the stretch? What is inlined there is noted. */
static bool touches(struct code_walk *walk, Dwarf_Die *die, uint32_t depth)
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

static bool code_leads_on(struct code_walk *walk, Dwarf_Die *die, uint32_t depth)
{
	return sym_dwarf_has_functions(die) || (sym_dwarf_is_code(die) && touches(walk, die, depth));
}

static void note_function(struct code_walk *walk, Dwarf_Die *die)
{
	if (walk->code->line || dwarf_haspc(die, walk->low) != 1)
		return;
	walk->code->line = code_number_of(die, DW_AT_decl_line);
	walk->code->file = numbered_file(walk, code_number_of(die, DW_AT_decl_file));
}

static void code_descend(struct code_walk *walk, Dwarf_Die *parent, int level, uint32_t depth)
{
	Dwarf_Die child;
	int more = level < LEVELS_MAX ? dwarf_child(parent, &child) : 1;

	for (; more == 0 && walk->entries < ENTRIES_MAX; more = dwarf_siblingof(&child, &child)) {
		walk->entries++;
		if (!code_leads_on(walk, &child, depth))
			continue;
		if (dwarf_tag(&child) == DW_TAG_subprogram)
			note_function(walk, &child);
		code_descend(walk, &child, level + 1, depth + (dwarf_tag(&child) == DW_TAG_inlined_subroutine));
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

static void note_folder(struct code_walk *walk, Dwarf_Die *unit)
{
	const char *folder = code_text_of(walk, unit, DW_AT_comp_dir);
	size_t size = folder ? strnlen(folder, PATH_MAX_TOLD) : 0;

	free(walk->code->folder);
	walk->code->folder = size && size < PATH_MAX_TOLD ? util_copy(folder, size) : NULL;
}

/* False: this unit has no line for the stretch. */
static bool code_walk_unit(struct code_walk *walk, const struct range *range, bool *full)
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
	code_descend(walk, &die, 0, 0);
	return true;
}

struct code_lines *sym_dwarf_code(struct sym_dwarf *dwarf, uint64_t low, uint64_t high, bool *full)
{
	struct code_walk walk = { .dwarf = dwarf, .low = low, .high = high, .code = code_lines_new() };
	uint32_t at = sym_dwarf_ranges_from(dwarf, low);
	bool found = false;

	*full = false;
	for (int tried = 0; !found && !*full && at > 0 && tried < RANGES_TRIED_MAX; tried++) {
		walk.code->row_count = 0;
		found = code_walk_unit(&walk, &dwarf->ranges[--at], full);
	}
	if (found)
		return walk.code;
	code_lines_free(walk.code);
	return NULL;
}
