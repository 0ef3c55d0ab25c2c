/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/bytes.h"
#include "kallsyms.h"

enum { TOKENS = 256 };

/* The length of a name takes one byte, or two of seven bits each with the lower bits first. Returns how many. */
static size_t length_at(const uint8_t *at, const uint8_t *end, size_t *length)
{
	if (at == end)
		return 0;
	*length = *at & 0x7f;
	if (*at < 0x80)
		return 1;
	if (end - at < 2)
		return 0;
	*length |= (size_t)at[1] << 7;
	return 2;
}

/* Writes the name with its type in front, as far as there is room. */
static size_t expand(const struct kallsyms *kallsyms, const uint8_t *codes, size_t count, char *text, size_t room)
{
	size_t size = 0;

	for (size_t i = 0; i < count && size < room; i++) {
		const uint8_t *token = kallsyms->tokens + bytes_16(kallsyms->token_index + 2 * codes[i]);

		for (; *token && size < room; token++)
			text[size++] = (char)*token;
	}
	return size;
}

static void set_address(const struct kallsyms *kallsyms, struct kallsyms_cursor *cursor)
{
	const uint8_t *words = kallsyms->addresses;
	int64_t offset;

	cursor->absolute = false;
	if (kallsyms->kind == KALLSYMS_WORDS) {
		cursor->address = kallsyms->word == 8 ? bytes_64(words + (size_t)cursor->index * 8) :
			bytes_32(words + (size_t)cursor->index * 4);
		return;
	}
	offset = (int32_t)bytes_32(words + (size_t)cursor->index * 4);
	if (kallsyms->kind == KALLSYMS_OFFSETS)
		cursor->address = kallsyms->base + (uint32_t)offset;
	else if (offset < 0)
		cursor->address = kallsyms->base - 1 - (uint64_t)offset;
	else
		cursor->address = (uint64_t)offset;
	cursor->absolute = kallsyms->kind == KALLSYMS_OFFSETS_PERCPU && offset >= 0;
	if (kallsyms->word == 4)
		cursor->address &= UINT32_MAX;
}

bool kallsyms_next(const struct kallsyms *kallsyms, struct kallsyms_cursor *cursor)
{
	const uint8_t *at = cursor->next ? cursor->next : kallsyms->names;
	char text[1 + KALLSYMS_NAME_MAX];
	size_t length, head, size;

	if (cursor->index == kallsyms->count)
		return false;
	head = length_at(at, kallsyms->names_end, &length);
	if (!head || length > (size_t)(kallsyms->names_end - at) - head)
		return false;
	size = expand(kallsyms, at + head, length, text, sizeof(text));
	cursor->type = size ? text[0] : '?';
	cursor->size = size ? size - 1 : 0;
	memcpy(cursor->name, text + 1, cursor->size);
	cursor->name[cursor->size] = '\0';
	set_address(kallsyms, cursor);
	cursor->next = at + head + length;
	cursor->index++;
	return true;
}
