/* SPDX-License-Identifier: MIT */
/* The programs. Each is a whole ELF file in the kernel's image. */
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

/* Any context. NULL: there is no program of that name. */
const struct program *program_find(const char *name);

/* What program_load() has found in the file. */
struct program_facts {
	uint64_t entry, start, end;	/* addresses; a program runs where it was linked */
	const uint8_t *build_id;	/* in the image; NULL: none */
	uint32_t build_id_size;
};

/* thread. Copies the program into an address space. False: there is no memory, or the ELF file is bad. */
bool program_load(const struct program *program, uint64_t space, struct program_facts *facts);

#endif
