/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/bare/function_starts.h"
#include "agent/names/bare/sym_frames.h"
#include "sym_elf.h"
#include "sym_elf_state.h"
#include "symbol_table.h"

enum {
	PIECE = 4096,			/* bytes */
	PIECES_MAX = 1 << 16,		/* of one file */
	PARTS_MAX = 64,			/* sections that are searched for functions */
	PARTS_SHARE = 8,		/* all of them take less than this part of the memory that is left */
	CODE_SECTIONS_TRIED = 1024,	/* for a function */
	/*
	 * Hardly a function is longer. Where none begins for so long, there are several of which nothing tells, or
	 * data: so that code keeps its rows of pages.
	 */
	FUNCTION_MAX = 1 << 16,		/* bytes */
};

struct bare_code {			/* names for the code of a file without symbols */
	const char *name;		/* of the file, without its folder */
	uint64_t base;			/* where the file begins */
	struct symbol_table *table;	/* gets the names */
	struct budget *budget;
	struct code_range *functions;	/* that are known */
	size_t count, pieces;
	uint32_t room;
};

struct finding {
	struct reader *reader;
	struct bare_code *code;
	struct file_part parts[PARTS_MAX];
	size_t part_count;
};

/* ---- names, counted from where the file begins ---- */

/* Frees the name. */
static bool bare_code_put(struct bare_code *code, uint64_t address, uint64_t end, uint64_t limit, char *name)
{
	bool added = symbol_table_add(code->table, &(struct symbol_entry) {
		.address = address, .size = end - address, .limit = limit, .name = name, .name_size = strlen(name),
		.apart = true,
	});

	free(name);
	return added;
}

/* A function that has a name already. */
static bool bare_code_know(struct bare_code *code, uint64_t address, uint64_t end)
{
	struct code_range *functions = budget_array(code->budget, code->functions, code->count, &code->room,
		sizeof(*functions));

	if (!functions)
		return false;
	code->functions = functions;
	functions[code->count++] = (struct code_range) { address, end };
	return true;
}

/* Names a function "NAME+0xOFFSET". `limit`: as in symbol_table.h. False: the table has no more room. */
static bool bare_code_add(struct bare_code *code, uint64_t address, uint64_t end, uint64_t limit)
{
	return bare_code_know(code, address, end) && bare_code_put(code, address, end, limit,
		util_format("%s+0x%" PRIx64, code->name, address - code->base));
}

static int by_function(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void bare_code_sort(struct bare_code *code)
{
	if (code->count)
		qsort(code->functions, code->count, sizeof(*code->functions), by_function);
}

/* A piece begins at a page, or where a function ends. */
static bool bare_code_pieces(struct bare_code *code, uint64_t at, uint64_t end, uint64_t limit)
{
	bool goes_on = true;

	while (at < end && goes_on && code->pieces++ < PIECES_MAX) {
		uint64_t next = (at / PIECE + 1) * PIECE;

		next = next > at && next < end ? next : end;
		goes_on = bare_code_put(code, at, next, limit, util_format("%s+0x%" PRIx64 "-0x%" PRIx64, code->name,
			at - code->base, next - code->base));
		at = next;
	}
	return goes_on;
}

/*
 * After the functions, which are sorted: names the code between them, from `address` to `end`, in pieces of a page at
 * most. Which functions it has is not known, so a piece is "NAME+0xOFFSET-0xEND". Does nothing if no function is known.
 */
static void bare_code_fill(struct bare_code *code, uint64_t address, uint64_t end)
{
	uint64_t at = address;

	if (!code->count)
		return;
	for (size_t i = 0; i < code->count; i++) {
		const struct code_range *function = &code->functions[i];

		if (function->end <= at || function->address >= end)
			continue;
		if (!bare_code_pieces(code, at, function->address, end))
			return;
		at = function->end;
	}
	bare_code_pieces(code, at, end, end);
}

static void bare_code_clear(struct bare_code *code)
{
	budget_free(code->budget, code->functions, code->room * sizeof(*code->functions));
}

/* The end of the section of code that an address is in; 0: there is none. */
static uint64_t code_end(const struct reader *reader, uint64_t address)
{
	for (size_t i = 0; i < reader->code_count && i < CODE_SECTIONS_TRIED; i++)
		if (address >= reader->code[i].address && address < reader->code[i].end)
			return reader->code[i].end;
	return 0;
}

/* ---- functions that the file tells of ---- */

static bool take_frame(void *context, uint64_t address, uint64_t size)
{
	const struct finding *finding = context;
	uint64_t limit = code_end(finding->reader, address);

	return !limit || bare_code_add(finding->code, address, address + size, limit);
}

static Elf_Scn *find_named(const struct reader *reader, const char *wanted, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(reader->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(reader->elf, section))) {
		const char *name = gelf_getshdr(section, header) ?
			elf_strptr(reader->elf, names, header->sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0 && header->sh_type != SHT_NOBITS)
			return section;
	}
	return NULL;
}

void sym_elf_add_stubs(int fd, struct symbol_table *table, struct budget *budget)
{
	static const char name[] = ".plt";
	struct reader *reader = sym_elf_open(fd, budget);
	const char *why;
	GElf_Shdr header;

	if (symbol_table_count(table) && reader->elf && elf_kind(reader->elf) == ELF_K_ELF &&
			gelf_getehdr(reader->elf, &reader->header) && sym_elf_pay_headers(reader, &why) &&
			find_named(reader, name, &header) && header.sh_flags & SHF_EXECINSTR)
		symbol_table_add(table, &(struct symbol_entry) {
			.address = header.sh_addr, .size = header.sh_size, .limit = header.sh_addr + header.sh_size,
			.name = name, .name_size = sizeof(name),
		});
	sym_elf_close(reader);
}

static bool is_wide(const struct reader *reader)
{
	return reader->header.e_ident[EI_CLASS] != ELFCLASS32;
}

static void add_frames(struct finding *finding)
{
	struct reader *reader = finding->reader;
	GElf_Shdr header;
	Elf_Scn *section = find_named(reader, ".eh_frame", &header);
	const Elf_Data *data = NULL;

	if (section && sym_elf_is_whole(reader, &header) && sym_elf_pay_section(reader, &header))
		data = elf_rawdata(section, NULL);
	if (data && data->d_buf)
		sym_frames_read(&(struct sym_frames) {
			.bytes = data->d_buf, .size = data->d_size, .address = header.sh_addr,
			.word = is_wide(reader) ? 8 : 4,
			.big_endian = reader->header.e_ident[EI_DATA] == ELFDATA2MSB,
		}, take_frame, finding);
}

/* Those of .dynsym have names of their own. One that does not tell its end begins here, at least. */
static void know_symbols(struct finding *finding)
{
	for (uint32_t i = 0; i < symbol_table_count(finding->code->table); i++) {
		struct symbol symbol = symbol_table_get(finding->code->table, i);

		bare_code_know(finding->code, symbol.address, symbol.sized ? symbol.end : symbol.address);
	}
}

/* ---- functions between these ---- */

static int by_address(const void *left, const void *right)
{
	const struct file_part *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static bool is_part(const struct finding *finding, const GElf_Shdr *header)
{
	return header->sh_flags & SHF_ALLOC && !(header->sh_flags & SHF_TLS) && header->sh_type != SHT_NOBITS &&
		header->sh_size && header->sh_addr + header->sh_size > header->sh_addr &&
		sym_elf_is_whole(finding->reader, header);
}

/* Only a section that can be paid for. */
static void add_part(struct finding *finding, Elf_Scn *section, const GElf_Shdr *header)
{
	const Elf_Data *data = NULL;

	if (header->sh_size < budget_left(finding->reader->budget) / PARTS_SHARE &&
			sym_elf_pay_section(finding->reader, header))
		data = elf_rawdata(section, NULL);
	if (data && data->d_buf)
		finding->parts[finding->part_count++] = (struct file_part) {
			.address = header->sh_addr, .bytes = data->d_buf, .size = data->d_size,
			.code = header->sh_flags & SHF_EXECINSTR,
		};
}

/* Where sections overlap, as only in a damaged file, the first one counts. */
static void read_parts(struct finding *finding)
{
	Elf_Scn *section = NULL;
	size_t kept = 0;
	GElf_Shdr header;

	while (finding->part_count < PARTS_MAX && (section = elf_nextscn(finding->reader->elf, section)))
		if (gelf_getshdr(section, &header) && is_part(finding, &header))
			add_part(finding, section, &header);
	qsort(finding->parts, finding->part_count, sizeof(*finding->parts), by_address);
	for (size_t i = 0; i < finding->part_count; i++) {
		const struct file_part *last = kept ? &finding->parts[kept - 1] : NULL;

		if (!last || finding->parts[i].address - last->address >= last->size)
			finding->parts[kept++] = finding->parts[i];
	}
	finding->part_count = kept;
}

static bool take_start(void *context, uint64_t address, uint64_t end)
{
	const struct finding *finding = context;

	return end - address > FUNCTION_MAX || bare_code_add(finding->code, address, end, end);
}

static void add_starts(struct finding *finding)
{
	struct bare_code *code = finding->code;
	size_t count = code->count, size = count * sizeof(*code->functions);
	struct code_range *known;

	bare_code_sort(code);
	known = budget_resize(code->budget, NULL, 0, size);
	if (count && !known)
		return;
	if (count)
		memcpy(known, code->functions, size);
	read_parts(finding);
	function_starts_find(&(struct bare_file) {
		.arch = arch_id_elf(finding->reader->header.e_machine), .wide = is_wide(finding->reader),
		.parts = finding->parts, .count = finding->part_count, .known = known, .known_count = count,
	}, code->budget, take_start, finding);
	budget_free(code->budget, known, known ? size : 0);
}

static void add_between(struct finding *finding)
{
	struct reader *reader = finding->reader;

	know_symbols(finding);
	add_starts(finding);
	bare_code_sort(finding->code);
	for (size_t i = 0; i < reader->code_count; i++)
		bare_code_fill(finding->code, reader->code[i].address, reader->code[i].end);
}

void sym_elf_add_bare(int fd, const char *path, bool between, struct symbol_table *table, struct budget *budget)
{
	const char *slash = strrchr(path, '/'), *why;
	struct bare_code code = { .name = slash ? slash + 1 : path, .table = table, .budget = budget };
	struct finding finding = { .reader = sym_elf_open(fd, budget), .code = &code };
	struct reader *reader = finding.reader;
	uint64_t end;
	GElf_Shdr header;

	if (reader->elf && elf_kind(reader->elf) == ELF_K_ELF && gelf_getehdr(reader->elf, &reader->header) &&
			sym_elf_pay_headers(reader, &why) && !sym_elf_find(reader, SHT_SYMTAB, &header)) {
		if (!sym_elf_extent(fd, &code.base, &end))
			code.base = 0;
		sym_elf_note_code(reader);
		add_frames(&finding);
		if (between)
			add_between(&finding);
		bare_code_clear(&code);
	}
	sym_elf_close(reader);
}
