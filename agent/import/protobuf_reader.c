/* SPDX-License-Identifier: MIT */
#include "protobuf_reader.h"

enum { NUMBER = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };	/* kinds, in the low bits of tags */

/* False, for what follows is no message. */
static bool give_up(struct protobuf_reader *reader)
{
	reader->left = 0;
	reader->bad = true;
	return false;
}

bool protobuf_reader_number(struct protobuf_reader *reader, uint64_t *number)
{
	unsigned shift = 0;

	*number = 0;
	if (!reader->left)
		return false;
	for (; reader->left && shift < 64; shift += 7) {
		uint8_t byte = *reader->at++;

		reader->left--;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return give_up(reader);
}

/* Takes so many bytes. */
static bool take(struct protobuf_reader *reader, uint64_t size, struct protobuf_field *field)
{
	if (size > reader->left)
		return give_up(reader);
	field->bytes = reader->at;
	field->size = (size_t)size;
	reader->at += size;
	reader->left -= (size_t)size;
	return true;
}

/* A message of which a length is missing is no message. */
static bool take_sized(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t size;

	return (protobuf_reader_number(reader, &size) || give_up(reader)) && take(reader, size, field);
}

bool protobuf_reader_next(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t tag;

	while (protobuf_reader_number(reader, &tag)) {
		*field = (struct protobuf_field) { .number = tag >> 3 };
		switch (tag & 7) {
		case NUMBER:
			return protobuf_reader_number(reader, &field->value) || give_up(reader);
		case BYTES:
			return take_sized(reader, field);
		case FIXED64:
			if (!take(reader, 8, field))
				return false;
			break;
		case FIXED32:
			if (!take(reader, 4, field))
				return false;
			break;
		default:
			return give_up(reader);
		}
	}
	return false;
}
