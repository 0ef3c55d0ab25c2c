/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "protobuf.h"

enum { NUMBER = 0, BYTES = 2 };		/* kinds of fields, in the low three bits of their tags */
enum { NUMBER_SIZE = 10 };		/* bytes, at most */

static size_t number_bytes(uint64_t number, uint8_t bytes[NUMBER_SIZE])
{
	size_t size = 0;

	for (; number > 0x7f; number >>= 7)
		bytes[size++] = (uint8_t)(number | 0x80);
	bytes[size++] = (uint8_t)number;
	return size;
}

static void add(struct protobuf *message, const void *bytes, size_t size)
{
	if (message->room - message->size < size) {
		message->room = 2 * (message->size + size);
		message->bytes = util_grow(message->bytes, message->room, 1);
	}
	memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

void protobuf_clear(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf) { 0 };
}

void protobuf_element(struct protobuf *message, uint64_t number)
{
	uint8_t bytes[NUMBER_SIZE];

	add(message, bytes, number_bytes(number, bytes));
}

void protobuf_number(struct protobuf *message, unsigned field, uint64_t number)
{
	if (number == 0)
		return;
	protobuf_element(message, field << 3 | NUMBER);
	protobuf_element(message, number);
}

void protobuf_message(struct protobuf *message, unsigned field, const struct protobuf *inner)
{
	protobuf_element(message, field << 3 | BYTES);
	protobuf_element(message, inner->size);
	if (inner->size)
		add(message, inner->bytes, inner->size);
}

void protobuf_name(struct protobuf *message, const char *name)
{
	char piece[NAME_PIECE];

	for (size_t size; (size = name_text_next(&name, "", piece));)
		add(message, piece, size);
}

void protobuf_write(FILE *to, unsigned field, struct protobuf *message)
{
	uint8_t head[2 * NUMBER_SIZE];
	size_t size = number_bytes(field << 3 | BYTES, head);

	size += number_bytes(message->size, head + size);
	fwrite(head, 1, size, to);
	if (message->size)
		fwrite(message->bytes, 1, message->size, to);
	message->size = 0;
}
