/* SPDX-License-Identifier: MIT */
#include <gelf.h>
#include <stddef.h>

#include "sym_elf_segments.h"

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
