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
#include "sym_dwarf_state.h"
#include "util.h"

/*
 * Larger files are mapped instead of read: hundreds of megabytes of which little is used. The
 * price: cutting such a file short while ktop reads it ends the program.
 */
enum { READ_MAX = 64 << 20, READ_SHARE = 16 };

enum {
	RANGES_MAX = 4 << 20,
	SECTION_COST = 512,		/* what libelf keeps of each */
	UNIT_COST = 256,		/* what libdw keeps of each */
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

	if (!units || !sym_dwarf_pay(dwarf, UNIT_COST))
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

/* libdw reads texts up to their zero, wherever that is: does each section of texts end with one? */
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

bool sym_dwarf_text_ends(const struct sym_dwarf *dwarf, const char *text)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;

	while ((section = sym_dwarf_section(dwarf->elf, section, has_texts, &data))) {
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
			|| !sym_dwarf_pay(dwarf, count * SECTION_COST))
		return false;
	while ((section = elf_nextscn(dwarf->elf, section))) {
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS
				|| header.sh_flags & SHF_ALLOC)
			continue;
		size = inflated(fd, section, &header);
		if (!sym_dwarf_pay(dwarf, size) || (!mapped && !sym_dwarf_pay(dwarf, header.sh_size)))
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
