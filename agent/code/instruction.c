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

void instruction_write(struct instruction *instruction, const char *mnemonic, const char *operands)
{
	char shown[INSTRUCTION_TEXT];

	copy_operands(shown, operands);
	if (instruction->kind != INSTRUCTION_PLAIN && strchr(shown, ',') == NULL)
		snprintf(shown, sizeof(shown), "%" PRIx64, instruction->target);
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
