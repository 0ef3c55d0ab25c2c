/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor says of an event's fields, "u32 box;char[] name;", and the values that an event has
 * for them. Both come from the guest: a text that is not understood and a payload that does not agree are refused.
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIELDS_MAX = 64, FIELD_NAME_SIZE = 64 };

enum field_type {
	FIELD_U8, FIELD_U16, FIELD_U32, FIELD_U64, FIELD_S8, FIELD_S16, FIELD_S32, FIELD_S64, FIELD_CHAR,
};

struct field {
	enum field_type type;			/* of one, or of each element */
	bool list;
	char name[FIELD_NAME_SIZE];		/* good for any reader, and no other field's */
};

/* How many fields the text describes, or -1 when it is not understood. */
int fields_parse(const char *text, struct field fields[FIELDS_MAX]);

/* A letter, then letters, digits and '_'; none of the names that are given where one is not good. */
bool fields_is_name(const char *text, size_t size);

/* Bytes of one. */
size_t field_size(enum field_type type);

/* Is each field there, and no byte left? */
bool fields_fit(const struct field *fields, int count, const void *payload, size_t size);

struct field_value {
	uint64_t number;		/* of what is no list; a negative one as two's complement */
	const void *elements;		/* of a list, as they came, at any address */
	size_t count;
};

/* Of field `index`, in a payload that fits. */
struct field_value fields_value(const struct field *fields, int index, const void *payload);

#endif
