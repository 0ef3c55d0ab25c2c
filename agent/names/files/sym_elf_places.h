/* SPDX-License-Identifier: MIT */
/*
 * Where the sections of a relocatable file (a kernel module, an object file) are put, since it does not say: those with
 * code as Linux puts a module's, one after another in the order of the file, except for `.init`
 * (kernel/module/main.c, layout_sections). All others get addresses far away, each its own.
 */
#ifndef SYM_ELF_PLACES_H
#define SYM_ELF_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct Elf;

#define ELF_PLACES_ELSEWHERE (UINT64_C(1) << 48)	/* what is far away is from here on */

/*
 * The addresses of sections, by their index, in fresh memory; *count: how many there are. NULL: the file has none, or
 * there is no memory.
 */
uint64_t *elf_places(struct Elf *elf, size_t *count);

#endif
