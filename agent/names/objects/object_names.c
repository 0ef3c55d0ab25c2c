/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "object_names.h"

enum { NAME_MAX_SHOWN = 64 };		/* bytes of an object's name */

void object_names_init(struct object_names *names)
{
	hash_init(&names->by_name, NULL);
}

void object_names_clear(struct object_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->list[i]);
	hash_clear(&names->by_name);
	names->count = 0;
}

static struct text base_name(struct text name)
{
	for (size_t i = name.size; i > 0; i--) {
		if (name.bytes[i - 1] == '/')
			return (struct text) { .bytes = name.bytes + i, .size = name.size - i };
	}
	return name;
}

const char *object_names_of(struct object_names *names, struct text path)
{
	struct text base = base_name(path);
	char *name = util_printable(base.bytes, base.size < NAME_MAX_SHOWN ? base.size : NAME_MAX_SHOWN);
	uint64_t hash = hash_text(&names->by_name, name);
	uint32_t at = 0, position;

	while ((position = hash_next(&names->by_name, hash, &at)) != HASH_NONE) {
		if (strcmp(names->list[position], name) == 0) {
			free(name);
			return names->list[position];
		}
	}
	if (names->count == OBJECT_NAMES_MAX || !hash_add(&names->by_name, hash, names->count)) {
		free(name);
		return "";
	}
	return names->list[names->count++] = name;
}
