/* SPDX-License-Identifier: MIT */
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/names/files/sym_elf_places.h"
#include "sym_dwarf_state.h"

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
