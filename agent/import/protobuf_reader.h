/* SPDX-License-Identifier: MIT */
/* Protocol buffers, read field by field. The bytes may be any; nothing behind them is read. */
#ifndef PROTOBUF_READER_H
#define PROTOBUF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf_reader {		/* of a message, or of the numbers of a packed list */
	const uint8_t *at;
	size_t left;
	bool bad;			/* it is no message from here on */
};

struct protobuf_field {
	uint64_t number;		/* which field it is */
	uint64_t value;			/* of a number */
	const uint8_t *bytes;		/* of a text, a message or a packed list; NULL: the field is a number */
	size_t size;
};

static inline struct protobuf_reader protobuf_reader_of(const void *bytes, size_t size)
{
	return (struct protobuf_reader) { .at = bytes, .left = size };
}

/* The next field. Those that are of neither kind are skipped. False: there is none, or `bad`. */
bool protobuf_reader_next(struct protobuf_reader *reader, struct protobuf_field *field);

/* The next number of a packed list. False: there is none, or `bad`. */
bool protobuf_reader_number(struct protobuf_reader *reader, uint64_t *number);

#endif
