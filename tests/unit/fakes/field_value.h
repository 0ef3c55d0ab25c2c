/* SPDX-License-Identifier: MIT */
/* The value of a field of a trace event: tests compare what was sent with what was described. */
#ifndef FIELD_VALUE_H
#define FIELD_VALUE_H

#include <stddef.h>
#include <stdint.h>

struct field;

struct field_value {
	uint64_t number;		/* if it is no list; a negative value as two's complement */
	const void *elements;		/* of a list, as they came, at any alignment */
	size_t count;
};

/* Of field `index`. The payload must fit (fields_fit). */
struct field_value field_value(const struct field *fields, int index, const void *payload);

#endif
