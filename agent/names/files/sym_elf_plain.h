/* SPDX-License-Identifier: MIT */
/*
 * ELF files whose sections are packed by zstd, as debug sections of kernels are: libelf and libdw know zstd from
 * version 0.189 on only. Such a file is made once more, in memory, with these sections unpacked behind its end.
 */
#ifndef SYM_ELF_PLAIN_H
#define SYM_ELF_PLAIN_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct elf_plain {
	uint8_t *image;			/* of the whole file; NULL: none was made */
	size_t size;
	size_t paid;			/* bytes that are charged to the budget */
};

enum elf_plain_state { ELF_PLAIN_ALREADY, ELF_PLAIN_MADE, ELF_PLAIN_DAMAGED, ELF_PLAIN_FULL };

/*
 * `elf` is the file that is open as `fd`. `map`: the file is mapped, not read. ALREADY: no section is packed by zstd.
 * MADE: elf_memory may open the image, which is writable. DAMAGED: a section is not what it says. FULL: no memory.
 */
enum elf_plain_state elf_plain_make(struct elf_plain *plain, Elf *elf, int fd, bool map, struct budget *budget);
void elf_plain_clear(struct elf_plain *plain, struct budget *budget);	/* after elf_end */

#endif
