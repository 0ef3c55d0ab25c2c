/* SPDX-License-Identifier: MIT */
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sym_elf_places.h"

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
