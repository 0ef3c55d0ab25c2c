/* SPDX-License-Identifier: MIT */
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "agent/names/linux/boot_image.h"
#include "sym_elf.h"
#include "sym_elf_state.h"
#include "symbol_table.h"

enum {
	CODE_SECTIONS_MAX = 1 << 16,
	CODE_SECTIONS_TRIED = 1024,	/* for a symbol that does not tell its section */
	SECTION_COST = 512,		/* bytes that libelf keeps for each */
	NOTES_MAX = 1 << 20,		/* bytes; build-ids are in short ones */
};

bool build_id_set(struct build_id *id, const void *bytes, size_t size)
{
	*id = (struct build_id) { .size = 0 };
	if (size == 0 || size > sizeof(id->bytes))
		return false;
	memcpy(id->bytes, bytes, size);
	id->size = size;
	return true;
}

bool build_id_known(const struct build_id *id)
{
	return id->size != 0;
}

bool build_id_contradicts(const struct build_id *a, const struct build_id *b)
{
	if (!build_id_known(a) || !build_id_known(b))
		return false;
	return a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0;
}

bool sym_elf_is(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

Elf_Scn *sym_elf_find(const struct reader *reader, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(reader->elf, section))) {
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	}
	return NULL;
}

const char *sym_elf_section_name(Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (!gelf_getshdr(section, &header))
		return NULL;
	if (header.sh_type == SHT_NULL && !header.sh_name)
		return "";
	name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : NULL;
	return name && *name ? name : NULL;
}

bool sym_elf_is_whole(const struct reader *reader, const GElf_Shdr *header)
{
	return header && !(header->sh_flags & SHF_COMPRESSED) && header->sh_offset <= reader->size &&
		header->sh_size <= reader->size - header->sh_offset;
}

/* The address of a section: of a relocatable file, where it is put. */
static uint64_t address_of(const struct reader *reader, size_t index, const GElf_Shdr *header)
{
	return !reader->places ? header->sh_addr : index < reader->place_count ? reader->places[index] : 0;
}

/* False: there is no room for it. */
static bool add_code(struct reader *reader, const struct code_section *section)
{
	struct code_section *code = reader->code_count < CODE_SECTIONS_MAX ? budget_array(reader->budget, reader->code,
		reader->code_count, &reader->code_room, sizeof(*code)) : NULL;

	if (!code)
		return false;
	reader->code = code;
	code[reader->code_count++] = *section;
	return true;
}

/* A file without sections tells its code by its segments alone. */
static void note_segments(struct reader *reader)
{
	size_t count = 0;
	GElf_Phdr segment;

	if (elf_getphdrnum(reader->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i < PN_XNUM; i++) {
		struct code_section code = { .index = SHN_LORESERVE, .bytes = true };

		if (!gelf_getphdr(reader->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
				!(segment.p_flags & PF_X) || !segment.p_filesz)
			continue;
		code.address = segment.p_vaddr;
		code.end = code.address + segment.p_filesz;
		code.offset = segment.p_offset;
		code.whole = segment.p_offset <= reader->size && segment.p_filesz <= reader->size - segment.p_offset;
		if (code.end <= code.address || !add_code(reader, &code))
			reader->left_out = true;
	}
}

void sym_elf_note_code(struct reader *reader)
{
	const GElf_Xword wanted = SHF_ALLOC | SHF_EXECINSTR;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(reader->elf, section))) {
		struct code_section code = { .index = elf_ndxscn(section) };

		if (!gelf_getshdr(section, &header) || (header.sh_flags & wanted) != wanted || !header.sh_size)
			continue;
		code.address = address_of(reader, code.index, &header);
		code.end = code.address + header.sh_size;
		code.offset = header.sh_offset;
		code.bytes = header.sh_type != SHT_NOBITS;
		code.whole = !code.bytes || sym_elf_is_whole(reader, &header);
		if (code.end <= code.address || !add_code(reader, &code))
			reader->left_out = true;
	}
	if (!elf_nextscn(reader->elf, NULL))
		note_segments(reader);
}

static const struct code_section *code_by_index(const struct reader *reader, size_t index)
{
	size_t at = sorted_upto(reader->code, reader->code_count, sizeof(*reader->code),
		offsetof(struct code_section, index), index);

	return at && reader->code[at - 1].index == index ? &reader->code[at - 1] : NULL;
}

/*
 * The section that has the symbol's code: found by its number, or by address for absolute symbols, which
 * linker scripts make. A symbol at the very end (_etext) counts, too: it may be an anchor.
 */
static const struct code_section *code_of(const struct reader *reader, const GElf_Sym *symbol,
	size_t index)
{
	const struct code_section *code = index == SHN_ABS ? NULL : code_by_index(reader, index);

	if (code)
		return symbol->st_value >= code->address && symbol->st_value <= code->end ? code : NULL;
	for (size_t i = 0; index == SHN_ABS && i < reader->code_count && i < CODE_SECTIONS_TRIED; i++) {
		code = &reader->code[i];
		if (symbol->st_value >= code->address && symbol->st_value <= code->end)
			return code;
	}
	return NULL;
}

static bool is_code_type(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC;
}

/* Finds the name in the string table; its size is bounded by what is left of the table. A function has one. */
static bool find_name(const Elf_Data *strings, size_t offset, struct symbol_entry *entry)
{
	if (!strings || !strings->d_buf || offset >= strings->d_size)
		return false;
	entry->name = (const char *)strings->d_buf + offset;
	entry->name_size = strings->d_size - offset;
	return *entry->name || !entry->typed;
}

static bool add_symbols(const struct reader *reader, Elf_Data *symbols, Elf_Data *numbers,
	const Elf_Data *strings, struct symbol_table *table)
{
	size_t size = gelf_fsize(reader->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = symbols->d_size / size;

	for (size_t i = 1; i < count && i < INT32_MAX; i++) {
		const struct code_section *code;
		struct symbol_entry entry = { .size = 0 };
		Elf32_Word index;
		GElf_Sym symbol;

		if (!gelf_getsymshndx(symbols, numbers, (int)i, &symbol, &index) ||
			!is_code_type(&symbol))
			continue;
		if (reader->header.e_machine == EM_ARM)
			symbol.st_value &= ~(GElf_Addr)1; /* marks Thumb code (AAELF32, 5.5.3) */
		if (symbol.st_shndx != SHN_XINDEX)
			index = symbol.st_shndx;
		if (reader->places)
			symbol.st_value += index < reader->place_count ? reader->places[index] : 0;
		code = code_of(reader, &symbol, index);
		if (!code)
			continue;
		entry.typed = GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE;
		if (!find_name(strings, symbol.st_name, &entry)) {
			symbol_table_refuse(table);
			continue;
		}
		entry.address = symbol.st_value;
		entry.size = symbol.st_size;
		entry.limit = code->end;
		entry.weak = GELF_ST_BIND(symbol.st_info) == STB_WEAK;
		entry.apart = index == SHN_ABS;
		if (!symbol_table_add(table, &entry))
			return false;
	}
	return true;
}

static bool pay(struct reader *reader, size_t bytes)
{
	if (!budget_take(reader->budget, bytes))
		return false;
	reader->taken += bytes;
	return true;
}

bool sym_elf_pay_section(struct reader *reader, const GElf_Shdr *header)
{
	return pay(reader, 2 * header->sh_size);
}

static bool has_symtab(Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		const char *name = sym_elf_section_name(elf, section);

		if (name && strcmp(name, ".symtab") == 0)
			return true;
	}
	return false;
}

static bool read_symbols(struct reader *reader, struct symbol_table *table, const char **why)
{
	GElf_Shdr header, names, other;
	Elf_Scn *section = sym_elf_find(reader, SHT_SYMTAB, &header), *numbers;
	Elf_Data *symbols;

	*why = "it is damaged: its .symtab is no table of symbols";
	if (!section && has_symtab(reader->elf))
		return false;
	if (!section)
		section = sym_elf_find(reader, SHT_DYNSYM, &header);
	if (!section)
		return true;
	*why = "it is damaged: its symbols are compressed, or beyond its end";
	if (!sym_elf_is_whole(reader, &header) ||
		!sym_elf_is_whole(reader, gelf_getshdr(elf_getscn(reader->elf, header.sh_link), &names)))
		return false;
	*why = "it is damaged: the names of its symbols are not where it says";
	if (names.sh_type != SHT_STRTAB)
		return false;
	*why = "there is no memory for its symbols (--memory gives more)";
	if (!sym_elf_pay_section(reader, &header) || !sym_elf_pay_section(reader, &names))
		return false;
	symbols = elf_getdata(section, NULL);
	if (!symbols || !symbols->d_buf) {
		*why = elf_errmsg(-1);
		return header.sh_size == 0;
	}
	numbers = sym_elf_find(reader, SHT_SYMTAB_SHNDX, &other);
	if (header.sh_type != SHT_SYMTAB ||
		(numbers && (!sym_elf_is_whole(reader, &other) || !sym_elf_pay_section(reader, &other))))
		numbers = NULL;
	*why = "too many symbols for the memory that is left (--memory gives more)";
	return add_symbols(reader, symbols, numbers ? elf_getdata(numbers, NULL) : NULL,
		elf_getdata(elf_getscn(reader->elf, header.sh_link), NULL), table);
}

static bool find_build_id(Elf_Data *notes, struct build_id *id)
{
	size_t at = 0, next, name, description;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, at, &note, &name, &description)) > at) {
		const char *bytes = notes->d_buf;

		at = next;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
			memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0)
			return build_id_set(id, bytes + description, note.n_descsz);
	}
	return false;
}

/* Looks in the sections; then in the segments, for a linker script may have discarded the section. */
static void read_build_id(const struct reader *reader, struct build_id *id)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count = 0;

	*id = (struct build_id) { .size = 0 };
	while ((section = elf_nextscn(reader->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
			header.sh_size <= NOTES_MAX && find_build_id(elf_getdata(section, NULL), id))
			return;
	}
	if (elf_getphdrnum(reader->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i < PN_XNUM; i++) {
		GElf_Phdr segment;
		Elf_Type type;

		if (!gelf_getphdr(reader->elf, (int)i, &segment) || segment.p_type != PT_NOTE ||
			segment.p_filesz > NOTES_MAX)
			continue;
		type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
		if (find_build_id(elf_getdata_rawchunk(reader->elf, (int64_t)segment.p_offset,
				segment.p_filesz, type), id))
			return;
	}
}

/* The name at the beginning of the section; see gdb's manual, "Separate Debug Files". */
static bool read_link(Elf_Scn *section, const GElf_Shdr *header, char link[256])
{
	const Elf_Data *data = header->sh_size <= NOTES_MAX ? elf_getdata(section, NULL) : NULL;
	size_t size = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;

	if (!size || size == data->d_size || size >= 256)
		return false;
	memcpy(link, data->d_buf, size + 1);
	return true;
}

static void read_section(const struct reader *reader, Elf_Scn *section, const GElf_Shdr *header, const char *name,
	struct elf_identity *identity)
{
	bool bytes = header->sh_type != SHT_NOBITS;

	if (strcmp(name, ".eh_frame") == 0 && bytes && !sym_elf_is_whole(reader, header))
		identity->frames = "its .eh_frame is damaged";
	if (strcmp(name, ".gnu_debuglink") == 0 && !(bytes && read_link(section, header, identity->link)))
		identity->damage = "its .gnu_debuglink is damaged";
	identity->shared |= strcmp(name, ".gnu_debugaltlink") == 0;
	if (strcmp(name, ".note.gnu.build-id") == 0 && !build_id_known(&identity->build_id))
		identity->damage = "its build-id is damaged";
	if (strcmp(name, ".debug_info") != 0 && strcmp(name, ".zdebug_info") != 0)
		return;
	identity->lines |= bytes;
	if (!bytes)
		identity->damage = "its .debug_info has no bytes";
}

static void read_identity(const struct reader *reader, struct elf_identity *identity)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	read_build_id(reader, &identity->build_id);
	while ((section = elf_nextscn(reader->elf, section))) {
		const char *name = sym_elf_section_name(reader->elf, section);

		if (name && gelf_getshdr(section, &header))
			read_section(reader, section, &header, name, identity);
		else
			identity->frames = identity->damage = "the names of its sections are damaged";
	}
}

const char *sym_elf_lost_lines(const struct elf_identity *identity)
{
	if (identity->lines && identity->shared)
		return "the file that its debug sections share with others is not in --debug-dir, or one is damaged";
	return identity->lines ? "its debug sections are damaged, or of a kind that ktop does not know" :
		identity->damage;
}

bool sym_elf_pay_headers(struct reader *reader, const char **why)
{
	size_t sections;

	*why = "it is damaged: its sections are beyond its end";
	if (elf_getshdrnum(reader->elf, &sections) != 0 || (reader->header.e_shoff && !sections))
		return false;
	*why = "there is no memory for its sections (--memory gives more)";
	return sections <= SIZE_MAX / SECTION_COST && pay(reader, sections * SECTION_COST);
}

/* `objects`: object files and kernel modules are taken, too. */
static bool read_elf(struct reader *reader, bool objects, struct symbol_table *table, struct build_id *id,
	const char **why)
{
	*why = "not an ELF file, or a damaged one";
	if (!reader->elf || elf_kind(reader->elf) != ELF_K_ELF ||
		!gelf_getehdr(reader->elf, &reader->header))
		return false;
	*why = "neither an executable nor a shared object";
	if (reader->header.e_type != ET_EXEC && reader->header.e_type != ET_DYN &&
			!(objects && reader->header.e_type == ET_REL))
		return false;
	if (!sym_elf_pay_headers(reader, why))
		return false;
	if (reader->header.e_type == ET_REL)
		reader->places = elf_places(reader->elf, &reader->place_count);
	sym_elf_note_code(reader);
	read_build_id(reader, id);
	return read_symbols(reader, table, why);
}

struct reader *sym_elf_open(int fd, struct budget *budget)
{
	struct reader *reader = util_alloc(sizeof(*reader));
	struct stat facts;

	reader->budget = budget;
	reader->size = fstat(fd, &facts) == 0 ? (uint64_t)facts.st_size : 0;
	elf_version(EV_CURRENT);
	reader->elf = elf_begin(fd, ELF_C_READ, NULL);
	return reader;
}

void sym_elf_close(struct reader *reader)
{
	elf_end(reader->elf);
	budget_free(reader->budget, reader->code, reader->code_room * sizeof(*reader->code));
	budget_give(reader->budget, reader->taken);
	free(reader->places);
	free(reader);
}

bool sym_elf_identify(int fd, struct elf_identity *identity, struct budget *budget)
{
	struct reader *reader = sym_elf_open(fd, budget);
	const char *why;
	bool done = reader->elf && elf_kind(reader->elf) == ELF_K_ELF &&
		gelf_getehdr(reader->elf, &reader->header) && sym_elf_pay_headers(reader, &why);

	*identity = (struct elf_identity) { .lines = false };
	if (done)
		read_identity(reader, identity);
	sym_elf_close(reader);
	return done;
}

bool sym_elf_read(int fd, const char *path, struct symbol_table *table, struct build_id *id,
	struct budget *budget, char **error)
{
	struct reader *reader = sym_elf_open(fd, budget);
	const char *why;
	bool done;

	done = read_elf(reader, false, table, id, &why);
	if (!done)
		util_fail(error,
			"cannot load symbols of %s: %s; give the ELF file as linked",
			path, unpack_told(fd, why));
	sym_elf_close(reader);
	return done;
}

/* ---- the code itself ---- */

/* False: a section is not as the file says, or there is no room. */
static bool take_code(const struct reader *reader, struct elf_code *code, const char **why)
{
	*why = "it is damaged, or has too many sections of code";
	if (reader->left_out)
		return false;
	*why = "it has neither sections nor segments of code";
	if (!reader->code_count && (!reader->header.e_shoff || !elf_nextscn(reader->elf, NULL)))
		return false;
	*why = "it is damaged: its code is beyond its end";
	code->ranges = util_grow(NULL, reader->code_count + 1, sizeof(*code->ranges));
	for (size_t i = 0; i < reader->code_count; i++) {
		const struct code_section *section = &reader->code[i];

		if (!section->whole)
			return false;
		if (section->bytes)
			code->ranges[code->count++] = (struct elf_code_range) {
				.address = section->address, .end = section->end, .offset = section->offset,
			};
	}
	return true;
}

bool sym_elf_read_code(int fd, const char *path, struct symbol_table *table, struct elf_code *code,
	struct build_id *id, struct budget *budget, char **error)
{
	struct reader *reader = sym_elf_open(fd, budget);
	const char *why;
	bool done;

	*code = (struct elf_code) { .count = 0 };
	done = read_elf(reader, true, table, id, &why) && take_code(reader, code, &why);
	if (!done) {
		util_fail(error, "cannot read the code of %s: %s; give a program, a library, a kernel, a module or an "
			"object file", path, unpack_told(fd, why));
		elf_code_clear(code);
	}
	sym_elf_close(reader);
	return done;
}

void elf_code_clear(struct elf_code *code)
{
	free(code->ranges);
	*code = (struct elf_code) { .count = 0 };
}

/* ---- its code ---- */

/* False: there is no memory. */
static bool add_part(struct sym_elf_code *code, struct elf_stretch part)
{
	struct elf_stretch *list;

	if (!part.size)
		return true;
	list = budget_array(code->budget, code->list, code->count, &code->room, sizeof(*list));
	if (!list)
		return false;
	code->list = list;
	list[code->count++] = part;
	return true;
}

static bool add_sections(struct sym_elf_code *code, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_ALLOC) &&
				(header.sh_flags & SHF_EXECINSTR) &&
				!add_part(code, (struct elf_stretch) { header.sh_addr, header.sh_size, header.sh_offset,
					header.sh_type == SHT_NOBITS ? ELF_PLACE_BARE : ELF_PLACE_CODE }))
			return false;
	return true;
}

/* Not all code need be in a section, or in one that says that it is code. */
static bool add_segments(struct sym_elf_code *code, Elf *elf)
{
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count) != 0)
		return true;
	for (size_t i = 0; i < count && i < PN_XNUM; i++) {
		uint64_t size, held;
		bool runs;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		runs = header.p_flags & PF_X;
		size = header.p_vaddr + header.p_memsz < header.p_vaddr ? -header.p_vaddr : header.p_memsz;
		held = header.p_filesz < size ? header.p_filesz : size;
		if (!add_part(code, (struct elf_stretch) { header.p_vaddr, held, header.p_offset,
				runs ? ELF_PLACE_CODE : ELF_PLACE_DATA }) ||
				!add_part(code, (struct elf_stretch) { header.p_vaddr + held, size - held, 0,
					runs ? ELF_PLACE_BARE : ELF_PLACE_DATA }))
			return false;
	}
	return true;
}

struct sym_elf_code *sym_elf_code_read(int fd, struct budget *budget)
{
	struct sym_elf_code *code = NULL;
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
		code = util_alloc(sizeof(*code));
		code->budget = budget;
		code->arch = arch_id_elf(header.e_machine);
		atomic_init(&code->holders, 1);
		if (!add_sections(code, elf) || !add_segments(code, elf)) {
			sym_elf_code_free(code);
			code = NULL;
		}
	}
	elf_end(elf);
	return code;
}

struct sym_elf_code *sym_elf_code_hold(struct sym_elf_code *code)
{
	if (code)
		atomic_fetch_add_explicit(&code->holders, 1, memory_order_relaxed);
	return code;
}

void sym_elf_code_free(struct sym_elf_code *code)
{
	/* Released by each holder, acquired by the last one, who frees what all of them have read. */
	if (!code || atomic_fetch_sub_explicit(&code->holders, 1, memory_order_acq_rel) != 1)
		return;
	budget_free(code->budget, code->list, code->room * sizeof(*code->list));
	free(code);
}

/* The first part that has code there, else one of data. NULL: there is none. */
static const struct elf_stretch *find_part(const struct sym_elf_code *code, uint64_t address)
{
	const struct elf_stretch *data = NULL;

	for (size_t i = 0; code && i < code->count; i++) {
		const struct elf_stretch *part = &code->list[i];

		if (address < part->address || address - part->address >= part->size)
			continue;
		if (part->place != ELF_PLACE_DATA)
			return part;
		data = part;
	}
	return data;
}

enum elf_place sym_elf_code_place(const struct sym_elf_code *code, uint64_t address)
{
	const struct elf_stretch *part = find_part(code, address);

	return part ? part->place : ELF_PLACE_OUTSIDE;
}

size_t sym_elf_code_bytes(const struct sym_elf_code *code, int fd, uint64_t address, void *bytes, size_t size)
{
	const struct elf_stretch *part = find_part(code, address);
	uint64_t skip, offset;
	ssize_t got;

	if (!part || part->place != ELF_PLACE_CODE)
		return 0;
	skip = address - part->address;
	offset = part->offset + skip;
	if (size > part->size - skip)
		size = (size_t)(part->size - skip);
	if (offset < skip || offset > INT64_MAX - size)
		return 0;
	got = pread(fd, bytes, size, (off_t)offset);
	return got > 0 ? (size_t)got : 0;
}

/* ---- places ---- */

enum { APART_SHIFT = 32 };		/* of sections that are far away */

/* Code that stays when the module has begun. */
static bool stays(Elf *elf, size_t names, const GElf_Shdr *header)
{
	const GElf_Xword wanted = SHF_ALLOC | SHF_EXECINSTR;
	const char *name = elf_strptr(elf, names, header->sh_name);

	return (header->sh_flags & wanted) == wanted && !(name && strncmp(name, ".init", 5) == 0);
}

uint64_t *elf_places(Elf *elf, size_t *count)
{
	Elf_Scn *section = NULL;
	uint64_t *places, at = 0;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrnum(elf, count) != 0 || !*count || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	places = calloc(*count, sizeof(*places));
	while (places && (section = elf_nextscn(elf, section))) {
		size_t index = elf_ndxscn(section);
		uint64_t align;

		if (index >= *count)
			break;
		if (!gelf_getshdr(section, &header) || !stays(elf, names, &header)) {
			places[index] = ELF_PLACES_ELSEWHERE + ((uint64_t)index << APART_SHIFT);
			continue;
		}
		align = header.sh_addralign ? header.sh_addralign : 1;
		at = (at + align - 1) / align * align;
		places[index] = at;
		at += header.sh_size;
	}
	return places;
}

/* ---- segments ---- */

enum { PAGE = 4096 };			/* a mapping begins at a page, maybe before its segment */

/* The addresses that are loaded. False: there are none. */
static bool find_extent(Elf *elf, uint64_t *low, uint64_t *high)
{
	size_t count = 0;
	GElf_Phdr segment;

	*low = UINT64_MAX;
	*high = 0;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i < PN_XNUM; i++) {
		uint64_t end;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		end = segment.p_vaddr + segment.p_memsz;
		*low = segment.p_vaddr < *low ? segment.p_vaddr : *low;
		*high = end > segment.p_vaddr && end > *high ? end : *high;
	}
	return *low < *high;
}

void sym_elf_segments(int fd, struct elf_segments *segments)
{
	size_t count = 0;
	GElf_Phdr header;
	uint64_t high;
	Elf *elf;

	*segments = (struct elf_segments) { .count = 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
		count = 0;
	if (count && !find_extent(elf, &segments->low, &high))
		segments->low = 0;
	for (size_t i = 0; i < count && i < PN_XNUM && segments->count < ELF_SEGMENTS; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD && header.p_flags & PF_X)
			segments->list[segments->count++] = (struct elf_segment) {
				.offset = header.p_offset, .size = header.p_filesz, .address = header.p_vaddr,
			};
	elf_end(elf);
}

bool sym_elf_extent(int fd, uint64_t *low, uint64_t *high)
{
	Elf *elf;
	bool found;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	found = elf && elf_kind(elf) == ELF_K_ELF && find_extent(elf, low, high);
	elf_end(elf);
	return found;
}

uint64_t elf_segments_address(const struct elf_segments *segments, uint64_t offset)
{
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->list[i];
		uint64_t begin = segment->offset - segment->offset % PAGE;

		if (offset >= begin && offset - begin < segment->size + segment->offset % PAGE)
			return offset - segment->offset + segment->address;
	}
	return offset;
}
