/* SPDX-License-Identifier: MIT */
/*
 * The fields of an event, as its descriptor tells them ("u32 box;char[] name;"), and their values in one
 * event. Both come from the guest. A text that cannot be parsed is refused, and so is a payload that does
 * not fit it.
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIELDS_MAX = 64, FIELD_NAME_SIZE = 64 };	/* fields of one event; bytes of a name, its zero included */

enum field_type {
	FIELD_U8, FIELD_U16, FIELD_U32, FIELD_U64, FIELD_S8, FIELD_S16, FIELD_S32, FIELD_S64, FIELD_CHAR,
};

struct field {
	enum field_type type;			/* of the value, or of each element of a list */
	bool list;
	char name[FIELD_NAME_SIZE];		/* a valid name, unique in its event */
};

/*
 * Returns how many fields the text describes; -1: it cannot be parsed, or describes too many. A field whose name
 * is bad or not unique is called "field_N".
 */
int fields_parse(const char *text, struct field fields[FIELDS_MAX]);

/*
 * Are the first `size` bytes of a zero-terminated text a name? That is a letter, then letters, digits and '_'.
 * Names that ktop itself gives out are refused: "field_...", "event_...", "..._length".
 */
bool fields_is_name(const char *text, size_t size);

/* The bytes of one value. */
size_t field_size(enum field_type type);

/* True if each field is there and no byte is left. */
bool fields_fit(const struct field *fields, int count, const void *payload, size_t size);

#endif
