/* SPDX-License-Identifier: MIT */
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <unistd.h>

#include "sym_elf_code.h"

struct stretch {			/* a part of the file that is loaded */
	uint64_t address, offset, size;
};

static bool covers(uint64_t address, uint64_t begin, uint64_t size)
{
	return address >= begin && address - begin < size;
}

static enum elf_place find_section(Elf *elf, uint64_t address, struct stretch *stretch)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
				!(header.sh_flags & SHF_EXECINSTR) || !covers(address, header.sh_addr, header.sh_size))
			continue;
		*stretch = (struct stretch) { header.sh_addr, header.sh_offset, header.sh_size };
		return header.sh_type == SHT_NOBITS ? ELF_PLACE_BARE : ELF_PLACE_CODE;
	}
	return ELF_PLACE_OUTSIDE;
}

static enum elf_place find_segment(Elf *elf, uint64_t address, struct stretch *stretch)
{
	enum elf_place place = ELF_PLACE_OUTSIDE;
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count) != 0)
		return ELF_PLACE_OUTSIDE;
	for (size_t i = 0; i < count && i < PN_XNUM; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
				!covers(address, header.p_vaddr, header.p_memsz))
			continue;
		*stretch = (struct stretch) { header.p_vaddr, header.p_offset, header.p_filesz };
		if (header.p_flags & PF_X)
			return covers(address, header.p_vaddr, header.p_filesz) ? ELF_PLACE_CODE : ELF_PLACE_BARE;
		place = ELF_PLACE_DATA;
	}
	return place;
}

/* Not all code need be in a section, or in one that says that it is code. */
static enum elf_place find_place(Elf *elf, uint64_t address, struct stretch *stretch)
{
	enum elf_place place = find_section(elf, address, stretch);

	return place == ELF_PLACE_OUTSIDE ? find_segment(elf, address, stretch) : place;
}

static size_t read_part(int fd, const struct stretch *stretch, uint64_t address, void *bytes, size_t size)
{
	uint64_t skip = address - stretch->address, offset = stretch->offset + skip;
	ssize_t got;

	if (size > stretch->size - skip)
		size = (size_t)(stretch->size - skip);
	if (offset < skip || offset > INT64_MAX - size)
		return 0;
	got = pread(fd, bytes, size, (off_t)offset);
	return got > 0 ? (size_t)got : 0;
}

enum arch_id sym_elf_arch(int fd)
{
	enum arch_id arch = ARCH_OTHER;
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &header))
		arch = arch_id_elf(header.e_machine);
	elf_end(elf);
	return arch;
}

size_t sym_elf_code(int fd, uint64_t address, void *bytes, size_t size, enum arch_id *arch)
{
	struct stretch stretch;
	GElf_Ehdr header;
	size_t got = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	*arch = ARCH_OTHER;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
		*arch = arch_id_elf(header.e_machine);
		if (find_place(elf, address, &stretch) == ELF_PLACE_CODE)
			got = read_part(fd, &stretch, address, bytes, size);
	}
	elf_end(elf);
	return got;
}

enum elf_place sym_elf_place(int fd, uint64_t address)
{
	enum elf_place place = ELF_PLACE_OUTSIDE;
	struct stretch stretch;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		place = find_place(elf, address, &stretch);
	elf_end(elf);
	return place;
}
