/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/sym_elf.h"
#include "sym_dwarf.h"
#include "sym_dwarf_state.h"

/*
 * A file above this size, or above its share of the budget, is mapped instead of read: hundreds of
 * megabytes of which little is used. The price: if such a file is truncated while ktop reads it, the
 * program ends.
 */
enum { READ_MAX = 64 << 20, READ_SHARE = 16 };

enum {
	RANGES_MAX = 4 << 20,
	SECTION_COST = 512,		/* bytes that libelf keeps for each */
	UNIT_COST = 256,		/* bytes that libdw keeps for each */
};

bool sym_dwarf_pay(struct sym_dwarf *dwarf, size_t bytes)
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

	if (ranges)
		dwarf->ranges = ranges;
	if (!ranges || dwarf->count == RANGES_MAX)
		return false;
	ranges[dwarf->count++] = (struct range) {
		.low = low, .high = high, .unit = dwarf->unit_count - 1,
	};
	return true;
}

/* A unit that has a name at all has one with letters. */
static bool is_named(Dwarf_Die *unit)
{
	const char *name = dwarf_diename(unit);

	return name ? *name != '\0' : dwarf_tag(unit) != DW_TAG_invalid && !dwarf_hasattr(unit, DW_AT_name);
}

static bool add_unit(struct sym_dwarf *dwarf, Dwarf_Die *die)
{
	struct unit *units = budget_array(dwarf->budget, dwarf->units, dwarf->unit_count,
		&dwarf->unit_room, sizeof(*units));
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;

	if (units)
		dwarf->units = units;
	if (!units || !sym_dwarf_pay(dwarf, UNIT_COST))
		return false;
	units[dwarf->unit_count++] = (struct unit) { .die = dwarf_dieoffset(die) };
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low < high && !add_range(dwarf, low, high))
			return false;
	}
	dwarf->damaged |= at < 0 || !is_named(die);
	return true;
}

static int by_low(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->high < b->high ? -1 : a->high > b->high;
}

static bool has_units(const char *name)
{
	return name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0);
}

/* Is the last unit there to its end? libdw takes one that is cut as far as it goes. */
static bool units_end(const struct sym_dwarf *dwarf)
{
	const Elf_Data *data;
	Dwarf_Off at = 0, next;
	size_t header;

	if (!sym_dwarf_section(sym_dwarf_elf(dwarf), NULL, has_units, &data))
		return true;
	for (; dwarf_nextcu(dwarf->dwarf, at, &next, &header, NULL, NULL, NULL) == 0 && next > at; at = next)
		if (next > data->d_size)
			return false;
	return true;
}

/* False: there is no room for all units. */
static bool walk_units(struct sym_dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int more;

	while ((more = dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die, NULL)) == 0) {
		if (!add_unit(dwarf, &die))
			return false;
	}
	dwarf->damaged |= more < 0 || !units_end(dwarf);
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
	return is_text(name) || has_units(name);
}

Elf_Scn *sym_dwarf_section(Elf *elf, Elf_Scn *section, bool (*wanted)(const char *name),
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

static bool is_read(const char *name)
{
	static const char *const names[] = {
		"info", "abbrev", "line", "line_str", "str", "str_offsets", "addr", "ranges", "rnglists",
	};

	for (size_t i = 0; name && strncmp(name, ".debug_", 7) == 0 && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name + 7, names[i]) == 0)
			return true;
	return false;
}

/* libdw unpacks all that it knows, and is silent about what it cannot unpack: then lines are missing. */
static bool all_unpacked(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	while (elf_getshdrstrndx(elf, &names) == 0 && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED &&
				is_read(elf_strptr(elf, names, header.sh_name)))
			return false;
	return true;
}

/* Is each section that is read there with its bytes? libdw leaves out what is not, as if the file did not have it. */
static bool is_whole(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		const char *name = sym_elf_section_name(elf, section);

		if (!name || !gelf_getshdr(section, &header))
			return false;
		if (strncmp(name, ".rel", 4) == 0)
			name += strcspn(name + 1, ".") + 1;
		if (is_read(name) && header.sh_size && (header.sh_type == SHT_NOBITS ||
				header.sh_type == SHT_NULL || !elf_getdata(section, NULL)))
			return false;
	}
	return true;
}

/* Does each section of texts end with a zero? libdw reads a text up to its zero, wherever that is. */
static bool texts_end(Elf *elf)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;

	while ((section = sym_dwarf_section(elf, section, is_text, &data))) {
		if (((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

static bool is_in(Elf *elf, const char *text)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;

	while (elf && (section = sym_dwarf_section(elf, section, has_texts, &data))) {
		uintptr_t at = (uintptr_t)text - (uintptr_t)data->d_buf;

		if (at < data->d_size && memchr(text, '\0', data->d_size - at))
			return true;
	}
	return false;
}

bool sym_dwarf_text_ends(const struct sym_dwarf *dwarf, const char *text)
{
	return is_in(sym_dwarf_elf(dwarf), text) ||
		is_in(dwarf->shared_elf, text);
}

/* The size that a compressed section claims to have once inflated; 0: it is not compressed. */
static uint64_t inflated(int fd, Elf_Scn *section, const GElf_Shdr *header)
{
	struct { char magic[4]; uint8_t size[8]; } gnu;
	GElf_Chdr compressed;
	uint64_t size;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
	if (pread(fd, &gnu, sizeof(gnu), (off_t)header->sh_offset) != sizeof(gnu) ||
			memcmp(gnu.magic, "ZLIB", 4) != 0)
		return 0;
	memcpy(&size, gnu.size, sizeof(size));
	return be64toh(size);
}

/* Charges for all sections that may be read into memory. False: there is no room. */
static bool pay_sections(struct sym_dwarf *dwarf, Elf *elf, int fd, bool mapped)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count = 0;

	if (elf_getshdrnum(elf, &count) != 0 || count > UINT32_MAX ||
			!sym_dwarf_pay(dwarf, count * SECTION_COST))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
				header.sh_flags & SHF_ALLOC)
			continue;
		size = inflated(fd, section, &header);
		if (!sym_dwarf_pay(dwarf, size) || (!mapped && !sym_dwarf_pay(dwarf, header.sh_size)))
			return false;
	}
	return true;
}

/* NULL: it is no ELF file, or damaged; with `*full`: there is no room for it. */
static Elf *open_elf(const struct sym_dwarf *dwarf, int fd, struct elf_plain *plain, bool *mapped, bool *full)
{
	size_t most = budget_share(dwarf->budget, READ_SHARE);
	enum elf_plain_state state = ELF_PLAIN_DAMAGED;
	struct stat facts;
	Elf *elf;

	*mapped = fstat(fd, &facts) != 0 || facts.st_size > READ_MAX ||
		(size_t)facts.st_size > most;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, *mapped ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		state = elf_plain_make(plain, elf, fd, *mapped, dwarf->budget);
	*full = state == ELF_PLAIN_FULL;
	if (state == ELF_PLAIN_ALREADY)
		return elf;
	elf_end(elf);
	return state == ELF_PLAIN_MADE ? elf_memory((char *)plain->image, plain->size) : NULL;
}

/*
 * Opens the file that dwz(1) has made of what several files share. libdw must never look for it, by
 * whatever path the file says. False: it is not there, or there is no room for it.
 */
static bool open_shared(struct sym_dwarf *dwarf, const struct debug_folders *folders, bool *full)
{
	const char *name;
	const void *bytes;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf->dwarf, &name, &bytes);
	struct build_id id;
	bool mapped;

	if (size == 0)
		return true;
	if (size < 0 || !folders || !build_id_set(&id, bytes, (size_t)size))
		return false;
	dwarf->shared_fd = debug_file_open_shared(folders, name, &id, dwarf->budget);
	if (dwarf->shared_fd < 0 ||
			!(dwarf->shared_elf = open_elf(dwarf, dwarf->shared_fd, &dwarf->shared_plain, &mapped, full)))
		return false;
	*full = !pay_sections(dwarf, dwarf->shared_elf, dwarf->shared_fd, mapped || dwarf->shared_plain.image);
	if (*full)
		return false;
	dwarf->shared = dwarf_begin_elf(dwarf->shared_elf, DWARF_C_READ, NULL);
	if (!dwarf->shared || !all_unpacked(dwarf->shared_elf) || !texts_end(dwarf->shared_elf) ||
			dwelf_dwarf_gnu_debugaltlink(dwarf->shared, &name, &bytes) != 0)
		return false;
	dwarf_setalt(dwarf->dwarf, dwarf->shared);
	return true;
}

static bool is_module(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) && header.e_type == ET_REL;
}

/* False: units say that they have lines, and those of none can be read. */
static bool lines_are_whole(struct sym_dwarf *dwarf)
{
	bool any = false;

	for (uint32_t i = 0; i < dwarf->unit_count; i++) {
		Dwarf_Lines *rows;
		Dwarf_Die die;
		size_t count;

		if (!dwarf_offdie(dwarf->dwarf, dwarf->units[i].die, &die) || !dwarf_hasattr(&die, DW_AT_stmt_list))
			continue;
		if (!sym_dwarf_pay_lines(dwarf, &dwarf->units[i], &die) || dwarf_getsrclines(&die, &rows, &count) == 0)
			return true;		/* with no room for them, nobody knows */
		any = true;
	}
	return !any;
}

/* A mapped module is not used: relocation changes its sections in memory. */
static bool open_dwarf(struct sym_dwarf *dwarf, int fd, const struct debug_folders *folders)
{
	bool mapped, full = false;

	dwarf->elf = open_elf(dwarf, fd, &dwarf->plain, &mapped, &full);
	if (!dwarf->elf || (mapped && !dwarf->plain.image && is_module(dwarf->elf)))
		return !full;
	if (!pay_sections(dwarf, dwarf->elf, fd, mapped || dwarf->plain.image))
		return false;
	dwarf->dwarf = is_module(dwarf->elf) ? sym_dwarf_open_module(dwarf) :
		dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf || !all_unpacked(sym_dwarf_elf(dwarf)) || !texts_end(sym_dwarf_elf(dwarf)))
		return true;			/* checked after sections were inflated */
	if (!open_shared(dwarf, folders, &full))
		return !full;
	dwarf->damaged = !is_whole(sym_dwarf_elf(dwarf)) || (dwarf->shared_elf && !is_whole(dwarf->shared_elf));
	if (!walk_units(dwarf))
		return false;
	if (!lines_are_whole(dwarf))
		dwarf->count = 0;		/* nothing can be looked up: whoever opens it says that it is damaged */
	return true;
}

struct sym_dwarf *sym_dwarf_new(int fd, const struct debug_folders *folders,
	struct budget *budget, bool *full)
{
	struct sym_dwarf *dwarf = util_alloc(sizeof(*dwarf));

	dwarf->budget = budget;
	dwarf->shared_fd = -1;
	*full = !open_dwarf(dwarf, fd, folders);
	if (!*full && dwarf->count)
		return dwarf;
	sym_dwarf_free(dwarf);
	return NULL;
}

void sym_dwarf_free(struct sym_dwarf *dwarf)
{
	if (!dwarf)
		return;
	if (!dwarf->dwfl)
		dwarf_end(dwarf->dwarf);
	sym_dwarf_close_module(dwarf);
	elf_end(dwarf->elf);
	dwarf_end(dwarf->shared);
	elf_end(dwarf->shared_elf);
	if (dwarf->shared_fd >= 0)
		close(dwarf->shared_fd);
	elf_plain_clear(&dwarf->plain, dwarf->budget);
	elf_plain_clear(&dwarf->shared_plain, dwarf->budget);
	budget_free(dwarf->budget, dwarf->units, dwarf->unit_room * sizeof(*dwarf->units));
	budget_free(dwarf->budget, dwarf->ranges, dwarf->room * sizeof(*dwarf->ranges));
	budget_give(dwarf->budget, dwarf->paid);
	free(dwarf);
}

bool sym_dwarf_is_damaged(const struct sym_dwarf *dwarf)
{
	return dwarf->damaged;
}

uint32_t sym_dwarf_ranges_from(const struct sym_dwarf *dwarf, uint64_t address)
{
	return (uint32_t)sorted_upto(dwarf->ranges, dwarf->count, sizeof(struct range), offsetof(struct range, low),
		address);
}

bool sym_dwarf_has_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace: case DW_TAG_module: case DW_TAG_structure_type: case DW_TAG_class_type:
		return dwarf_haschildren(die) == 1;
	default:
		return false;
	}
}

bool sym_dwarf_is_code(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram: case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block: case DW_TAG_try_block: case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/* ---- kernel modules ---- */

static int find_elf(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
	char **path, Elf **elf)
{
	struct sym_dwarf *dwarf = *context;

	(void)module, (void)name, (void)base, (void)path;
	*elf = dwarf->elf;
	dwarf->elf = NULL;		/* libdwfl owns it from here on */
	return -1;
}

static int find_none(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
	const char *path, const char *link, GElf_Word sum, char **found)
{
	(void)module, (void)context, (void)name, (void)base, (void)path, (void)link, (void)sum;
	(void)found;
	return -1;
}

static int place_section(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
	const char *section, GElf_Word index, const GElf_Shdr *header, Dwarf_Addr *address)
{
	struct sym_dwarf *dwarf = *context;

	(void)module, (void)name, (void)base, (void)section, (void)header;
	*address = index < dwarf->place_count ? dwarf->places[index] : ELF_PLACES_ELSEWHERE;
	return 0;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_none,
	.section_address = place_section,
};

static bool is_packed(const char *name)
{
	return name && strcmp(name, ".gnu_debugdata") == 0;
}

Dwarf *sym_dwarf_open_module(struct sym_dwarf *dwarf)
{
	Dwfl_Module *module;
	const Elf_Data *data;
	Dwarf_Addr bias = 0;
	void **context;
	Dwarf *found;

	/* Nothing says how large it is once unpacked. */
	if (sym_dwarf_section(dwarf->elf, NULL, is_packed, &data))
		return NULL;
	dwarf->relocated = dwarf->elf;
	dwarf->places = elf_places(dwarf->elf, &dwarf->place_count);
	if (!dwarf->places)
		return NULL;
	dwarf->dwfl = dwfl_begin(&callbacks);
	if (!dwarf->dwfl)
		return NULL;
	dwfl_report_begin(dwarf->dwfl);
	module = dwfl_report_module(dwarf->dwfl, "module", 0, ELF_PLACES_ELSEWHERE - 1);
	if (!module || !dwfl_module_info(module, &context, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	*context = dwarf;
	dwfl_report_end(dwarf->dwfl, NULL, NULL);
	found = dwfl_module_getdwarf(module, &bias);
	return bias == 0 ? found : NULL;
}

void sym_dwarf_close_module(struct sym_dwarf *dwarf)
{
	if (dwarf->dwfl)
		dwfl_end(dwarf->dwfl);
	free(dwarf->places);
}

/* ---- code lines ---- */

struct code_lines *code_lines_new(void)
{
	struct code_lines *lines = util_alloc(sizeof(*lines));

	lines->file = CODE_NO_FILE;
	return lines;
}

void code_lines_free(struct code_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->file_count; i++)
		free(lines->files[i]);
	for (size_t i = 0; i < lines->inline_count; i++)
		free(lines->inlines[i].name);
	free(lines->folder);
	free(lines->fetched);
	free(lines->files);
	free(lines->rows);
	free(lines->inlines);
	free(lines);
}

uint16_t code_lines_own(const struct code_lines *lines)
{
	uint16_t file = lines->file;

	for (size_t i = 0; file == CODE_NO_FILE && i < lines->row_count; i++)
		file = lines->rows[i].file;
	return file;
}
