/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "fields.h"

static const struct { const char *name; uint8_t size; } types[] = {
	[FIELD_U8] = { "u8", 1 }, [FIELD_U16] = { "u16", 2 }, [FIELD_U32] = { "u32", 4 },
	[FIELD_U64] = { "u64", 8 }, [FIELD_S8] = { "s8", 1 }, [FIELD_S16] = { "s16", 2 },
	[FIELD_S32] = { "s32", 4 }, [FIELD_S64] = { "s64", 8 }, [FIELD_CHAR] = { "char", 1 },
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static bool find_type(const char *text, size_t size, enum field_type *type)
{
	for (size_t i = 0; i < TYPES; i++)
		if (strlen(types[i].name) == size && memcmp(types[i].name, text, size) == 0) {
			*type = (enum field_type)i;
			return true;
		}
	return false;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool fields_is_name(const char *text, size_t size)
{
	if (size == 0 || size >= FIELD_NAME_SIZE || strspn(text, LETTERS) == 0 ||
			strspn(text, LETTERS "0123456789_") < size)
		return false;
	return strncmp(text, "field_", 6) != 0 && strncmp(text, "event_", 6) != 0 &&
		(size < 7 || memcmp(text + size - 7, "_length", 7) != 0);
}

static void name_field(struct field *fields, size_t index, const char *text, size_t size)
{
	bool good = fields_is_name(text, size);

	for (size_t i = 0; i < index && good; i++)
		good = strlen(fields[i].name) != size || memcmp(fields[i].name, text, size) != 0;
	if (good)
		memcpy(fields[index].name, text, size);
	else
		snprintf(fields[index].name, FIELD_NAME_SIZE, "field_%zu", index);
}

int fields_parse(const char *text, struct field fields[FIELDS_MAX])
{
	int count = 0;

	memset(fields, 0, FIELDS_MAX * sizeof(fields[0]));
	while (*text) {
		size_t type = strcspn(text, " ;"), name = strcspn(text + type, ";");
		struct field *field = &fields[count];

		if (count == FIELDS_MAX || text[type] != ' ' || text[type + name] != ';')
			return -1;
		field->list = type > 2 && memcmp(text + type - 2, "[]", 2) == 0;
		if (!find_type(text, field->list ? type - 2 : type, &field->type))
			return -1;
		name_field(fields, (size_t)count, text + type + 1, name - 1);
		count++;
		text += type + name + 1;
	}
	return count;
}

size_t field_size(enum field_type type)
{
	return types[type].size;
}

/* The bytes of the field at `at`, where `left` bytes are left. More than `left`: the field is not all there. */
static size_t bytes_of(const struct field *field, const uint8_t *at, size_t left)
{
	uint16_t count;

	if (!field->list)
		return field_size(field->type);
	if (left < sizeof(count))
		return left + 1;
	memcpy(&count, at, sizeof(count));
	return sizeof(count) + count * field_size(field->type);
}

bool fields_fit(const struct field *fields, int count, const void *payload, size_t size)
{
	const uint8_t *at = payload;

	for (int i = 0; i < count; i++) {
		size_t step = bytes_of(&fields[i], at, size);

		if (step > size)
			return false;
		at += step;
		size -= step;
	}
	return size == 0;
}
