/* SPDX-License-Identifier: MIT */
/* The programs, whole ELF files within the kernel's image. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct program {
	const char *name;
	const uint8_t *image, *image_end;
};

extern const struct program programs[];
extern const uint32_t program_count;

/* NULL: there is none of that name. */
const struct program *program_find(const char *name);

/* What program_load() found. */
struct program_facts {
	uint64_t entry, start, end;	/* run addresses, which are the link addresses */
	const uint8_t *build_id;	/* in the image; NULL: none */
	uint32_t build_id_size;
};

/* thread. Puts the program into an address space; false: no memory, or no good ELF file. */
bool program_load(const struct program *program, uint64_t space, struct program_facts *facts);

#endif
