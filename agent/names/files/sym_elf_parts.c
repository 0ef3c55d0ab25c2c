/* SPDX-License-Identifier: MIT */
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "sym_elf_parts.h"

enum { PARTS_MOST = 1024 };

static void add_part(struct sym_elf_parts *parts, struct sym_elf_part part)
{
	if (part.size && parts->count < PARTS_MOST)
		parts->list[parts->count++] = part;
}

static void add_sections(struct sym_elf_parts *parts, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_ALLOC) &&
				(header.sh_flags & SHF_EXECINSTR))
			add_part(parts, (struct sym_elf_part) { header.sh_addr, header.sh_size, header.sh_offset,
				header.sh_type == SHT_NOBITS ? ELF_PLACE_BARE : ELF_PLACE_CODE });
}

/* Not all code need be in a section, or in one that says that it is code. */
static void add_segments(struct sym_elf_parts *parts, Elf *elf)
{
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i < PN_XNUM; i++) {
		bool runs;
		uint64_t held;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		runs = header.p_flags & PF_X;
		held = header.p_filesz < header.p_memsz ? header.p_filesz : header.p_memsz;
		add_part(parts, (struct sym_elf_part) { header.p_vaddr, held, header.p_offset,
			runs ? ELF_PLACE_CODE : ELF_PLACE_DATA });
		add_part(parts, (struct sym_elf_part) { header.p_vaddr + held, header.p_memsz - held, 0,
			runs ? ELF_PLACE_BARE : ELF_PLACE_DATA });
	}
}

struct sym_elf_parts *sym_elf_parts_read(int fd)
{
	struct sym_elf_parts *parts = NULL;
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
		parts = util_alloc(sizeof(*parts) + PARTS_MOST * sizeof(*parts->list));
		parts->arch = arch_id_elf(header.e_machine);
		add_sections(parts, elf);
		add_segments(parts, elf);
		parts = util_grow(parts, 1, sizeof(*parts) + parts->count * sizeof(*parts->list));
	}
	elf_end(elf);
	return parts;
}

struct sym_elf_parts *sym_elf_parts_copy(const struct sym_elf_parts *parts)
{
	return parts ? (struct sym_elf_parts *)util_copy((const char *)parts, sizeof(*parts) +
		parts->count * sizeof(*parts->list)) : NULL;
}

/* The first part that has code there, else one of data. NULL: there is none. */
static const struct sym_elf_part *find_part(const struct sym_elf_parts *parts, uint64_t address)
{
	const struct sym_elf_part *data = NULL;

	for (size_t i = 0; parts && i < parts->count; i++) {
		const struct sym_elf_part *part = &parts->list[i];

		if (address < part->address || address - part->address >= part->size)
			continue;
		if (part->place != ELF_PLACE_DATA)
			return part;
		data = part;
	}
	return data;
}

enum elf_place sym_elf_parts_place(const struct sym_elf_parts *parts, uint64_t address)
{
	const struct sym_elf_part *part = find_part(parts, address);

	return part ? part->place : ELF_PLACE_OUTSIDE;
}

size_t sym_elf_parts_bytes(const struct sym_elf_parts *parts, int fd, uint64_t address, void *bytes, size_t size)
{
	const struct sym_elf_part *part = find_part(parts, address);
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
