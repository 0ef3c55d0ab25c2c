/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "stack_memory.h"

/* The wire is little-endian, and so is each guest; so words are read as the host's own. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a stack's words are little-endian");

static const uint8_t *find(const struct stack_memory *memory, uint64_t address, size_t size)
{
	for (size_t i = 0; i < memory->count && i < STACK_MEMORY_PIECES; i++) {
		const struct stack_piece *piece = &memory->pieces[i];
		uint64_t offset = address - piece->address;

		if (address >= piece->address && offset <= piece->size && piece->size - offset >= size)
			return piece->bytes + offset;
	}
	return NULL;
}

bool stack_memory_word(struct stack_memory *memory, uint64_t address, size_t size, uint64_t *word)
{
	const uint8_t *bytes = find(memory, address, size);

	*word = 0;
	if (bytes) {
		memcpy(word, bytes, size);
		return true;
	}
	if (!memory->elsewhere || memory->reads >= STACK_MEMORY_READS)
		return false;
	memory->reads++;
	return memory->elsewhere->read(memory->elsewhere->context, address, word, size);
}
