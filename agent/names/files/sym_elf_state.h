/* SPDX-License-Identifier: MIT */
/* An ELF file that is being read: what the parts of sym_elf share. */
#ifndef SYM_ELF_STATE_H
#define SYM_ELF_STATE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct code_section {
	size_t index;
	uint64_t address, end, offset;
	bool bytes, whole;		/* it has bytes in the file; all of them */
};

struct reader {
	struct budget *budget;
	size_t taken;			/* bytes charged for what libelf holds */
	uint64_t size;			/* of the file */
	Elf *elf;
	GElf_Ehdr header;
	uint64_t *places;		/* of a relocatable file's sections; NULL: it is linked */
	size_t place_count;
	struct code_section *code;	/* in order of their indexes */
	size_t code_count;
	uint32_t code_room;
	bool left_out;			/* it has further sections of code */
};

/*
 * Reads the file instead of mapping it: if a mapped file were truncated, the program would be killed. `elf` is NULL if
 * that fails.
 */
struct reader *sym_elf_open(int fd, struct budget *budget);
void sym_elf_close(struct reader *reader);

bool sym_elf_pay_headers(struct reader *reader, const char **why);	/* before any section is looked at */

/* Charges for a section that libelf will read, and may copy once more. */
bool sym_elf_pay_section(struct reader *reader, const GElf_Shdr *header);

/* Is all of the section in the file, and not compressed? */
bool sym_elf_is_whole(const struct reader *reader, const GElf_Shdr *header);

/* The first section of the given type. */
Elf_Scn *sym_elf_find(const struct reader *reader, GElf_Word type, GElf_Shdr *header);

void sym_elf_note_code(struct reader *reader);	/* fills `code` */

#endif
