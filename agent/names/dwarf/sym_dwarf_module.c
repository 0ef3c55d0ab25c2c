/* SPDX-License-Identifier: MIT */
#include <elfutils/libdwfl.h>
#include <string.h>

#include "sym_dwarf_state.h"

/*
 * A kernel module is an object file, so its DWARF must be relocated to where Linux puts the sections. Linux
 * puts sections with code one after another in the order of the file, except for `.init`
 * (kernel/module/main.c, layout_sections). All other sections get addresses far away.
 */
enum { ELSEWHERE_SHIFT = 32 };
#define ELSEWHERE (UINT64_C(1) << 48)

static bool is_code(const GElf_Shdr *header)
{
	const GElf_Xword wanted = SHF_ALLOC | SHF_EXECINSTR;

	return (header->sh_flags & wanted) == wanted;
}

static bool stays(Elf *elf, size_t names, const GElf_Shdr *header)
{
	const char *name = elf_strptr(elf, names, header->sh_name);

	return is_code(header) && !(name && strncmp(name, ".init", 5) == 0);
}

/* The place of a section, counted from the beginning of the module's code. */
static uint64_t place_of(Elf *elf, size_t index)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t at = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return ELSEWHERE;
	while ((section = elf_nextscn(elf, section))) {
		uint64_t align;
		bool code = gelf_getshdr(section, &header) && stays(elf, names, &header);

		align = code && header.sh_addralign ? header.sh_addralign : 1;
		at = code ? (at + align - 1) / align * align : at;
		if (elf_ndxscn(section) == index)
			return code ? at : ELSEWHERE + ((uint64_t)index << ELSEWHERE_SHIFT);
		at += code ? header.sh_size : 0;
	}
	return ELSEWHERE;
}

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
	*address = place_of(dwarf->relocated, index);
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
	dwarf->dwfl = dwfl_begin(&callbacks);
	if (!dwarf->dwfl)
		return NULL;
	dwfl_report_begin(dwarf->dwfl);
	module = dwfl_report_module(dwarf->dwfl, "module", 0, ELSEWHERE - 1);
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
}
