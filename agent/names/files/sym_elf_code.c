/* SPDX-License-Identifier: MIT */
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "sym_elf_code.h"

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
