/* SPDX-License-Identifier: MIT */
/* Where the parts of an ELF file are linked, by its program headers. */
#ifndef SYM_ELF_SEGMENTS_H
#define SYM_ELF_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { ELF_SEGMENTS = 8 };		/* of code; a file has one, mostly */

struct elf_segments {			/* the parts of a file that hold code */
	uint64_t low;			/* the lowest address at which any part is linked */
	uint32_t count;
	struct elf_segment {
		uint64_t offset, size, address;	/* bytes of the file; where the first of them is linked */
	} list[ELF_SEGMENTS];
};

/* No segments if it is no ELF file. */
void sym_elf_segments(int fd, struct elf_segments *segments);

/* The addresses at which the file is linked to be loaded: [*low, *high). False: it is no ELF file, or is not loaded. */
bool sym_elf_extent(int fd, uint64_t *low, uint64_t *high);

/* Where the byte at an offset of the file is linked. What is in no segment is taken to be linked at its offset. */
uint64_t elf_segments_address(const struct elf_segments *segments, uint64_t offset);

#endif
