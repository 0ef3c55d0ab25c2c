/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of an ELF file tell of its functions: a copy needs no others. They are found in steps, for each part says
 * where the next one is. The bytes are hostile. For 64 bits, little-endian.
 */
#ifndef ELF_PARTS_H
#define ELF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elf_part {
	ELF_PART_HEAD,			/* the file's first bytes */
	ELF_PART_TABLES,		/* its headers of segments and sections */
	ELF_PART_NAMES,			/* of its sections */
	ELF_PART_CONTENTS,		/* symbols, call frame information, notes */
	ELF_PART_LOADED,		/* of a stripped file: its code, and the tables by which it jumps */
	ELF_PARTS,
};

enum { ELF_RANGES_MAX = 16 };

struct elf_ranges {
	size_t count;
	struct { uint64_t offset, size; } list[ELF_RANGES_MAX];
};

/* `fd`: the copy, which has the parts before this one. False: it is no such file, or not one with sections. */
bool elf_parts_find(int fd, enum elf_part part, struct elf_ranges *ranges);

#endif
