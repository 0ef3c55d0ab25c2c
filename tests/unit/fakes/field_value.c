/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "agent/wire/fields.h"
#include "field_value.h"

static uint64_t number_at(enum field_type type, const uint8_t *at)
{
	int unused = 64 - 8 * (int)field_size(type);
	int64_t number = 0;

	memcpy(&number, at, field_size(type));
	if (type >= FIELD_S8 && type <= FIELD_S64)
		number = (int64_t)((uint64_t)number << unused) >> unused;
	return (uint64_t)number;
}

struct field_value field_value(const struct field *fields, int index, const void *payload)
{
	const uint8_t *at = payload;
	uint16_t count = 0;

	for (const struct field *field = fields;; field++) {
		memcpy(&count, at, field->list ? sizeof(count) : 0);
		if (field == fields + index)
			break;
		at += field->list ? sizeof(count) + count * field_size(field->type) : field_size(field->type);
	}
	if (!fields[index].list)
		return (struct field_value) { .number = number_at(fields[index].type, at) };
	return (struct field_value) { .elements = at + sizeof(count), .count = count };
}
