/* SPDX-License-Identifier: MIT */
/* One instruction as text, in the syntax of objdump. */
#ifndef INSTRUCTION_H
#define INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSTRUCTION_TEXT = 160 };

enum instruction_kind { INSTRUCTION_PLAIN, INSTRUCTION_JUMP, INSTRUCTION_CALL };

struct instruction {
	uint8_t size;
	bool known;			/* false: these bytes are no instruction, or nothing here knows it */
	enum instruction_kind kind;	/* jumps and calls whose target is not known are plain */
	uint64_t target;		/* of a jump or a call */
	char text[INSTRUCTION_TEXT];	/* printable */
};

/*
 * Writes the text. `operands` is what a library has written, "" if there are none. A target is written as an address:
 * in place of the last operand if that is a number, else behind all.
 */
void instruction_write(struct instruction *instruction, const char *mnemonic, const char *operands);

/* Sets size and text of what is no instruction: the bytes as a number of two or four bytes, or one byte by itself. */
void instruction_write_bytes(struct instruction *instruction, const uint8_t *bytes, size_t size);

#endif
