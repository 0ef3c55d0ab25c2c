/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "instruction.h"

enum { MNEMONIC = 7 };			/* columns, as in objdump */

/* As in objdump: no blanks between operands. */
static void copy_operands(char operands[INSTRUCTION_TEXT], const char *from)
{
	size_t used = 0;

	for (const char *c = from; *c && used + 1 < INSTRUCTION_TEXT; c++)
		if (*c != ' ' || used == 0 || operands[used - 1] != ',')
			operands[used++] = *c;
	operands[used] = '\0';
}

/* The last operand if it is a number, such as -8, #0x10 or 0x10; it is none if a register follows, as in -8(ra). */
static char *last_number(char *operands)
{
	char *comma = strrchr(operands, ','), *last = comma ? comma + 1 : operands;

	return *last && strchr("#-0123456789", *last) && !strchr(last, '(') ? last : NULL;
}

/* As in objdump: an address has no prefix. */
static void put_target(char operands[INSTRUCTION_TEXT], uint64_t target)
{
	char *number = last_number(operands), *at = number ? number : operands + strlen(operands);

	snprintf(at, (size_t)(operands + INSTRUCTION_TEXT - at), "%s%" PRIx64, number ? "" : " # ", target);
}

void instruction_write(struct instruction *instruction, const char *mnemonic, const char *operands)
{
	char shown[INSTRUCTION_TEXT];

	copy_operands(shown, operands);
	if (instruction->kind != INSTRUCTION_PLAIN)
		put_target(shown, instruction->target);
	util_print(instruction->text, INSTRUCTION_TEXT, "%-*s%s%s", *shown ? MNEMONIC - 1 : 0, mnemonic,
		*shown ? " " : "", shown);
}

void instruction_write_bytes(struct instruction *instruction, const uint8_t *bytes, size_t size)
{
	uint32_t word = 0;

	instruction->size = (uint8_t)size;
	for (size_t i = 0; i < size; i++)
		word |= (uint32_t)bytes[i] << 8 * i;
	if (size == 1)
		snprintf(instruction->text, INSTRUCTION_TEXT, "(bad)  %02" PRIx32, word);
	else
		snprintf(instruction->text, INSTRUCTION_TEXT, "%-*s 0x%0*" PRIx32, MNEMONIC - 1,
			size == 2 ? ".2byte" : ".4byte", 2 * (int)size, word);
}
