/* SPDX-License-Identifier: MIT */
/*
 * Protocol buffers made field by field, also such as no library would make: messages with numbers, texts, and messages
 * inside of them.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct protobuf {			/* a message; all zero: an empty one */
	uint8_t *bytes;
	size_t size, room;
};

void protobuf_clear(struct protobuf *message);

/* A field that is 0 is not written: that is what its absence says. */
void protobuf_number(struct protobuf *message, unsigned field, uint64_t number);
void protobuf_element(struct protobuf *message, uint64_t number);	/* of a packed list, which is a message */
void protobuf_message(struct protobuf *message, unsigned field, const struct protobuf *inner);
void protobuf_name(struct protobuf *message, const char *name);	/* the bytes of a text: harmless (name_text.h) */

/* Writes the message as a field of the file's own message, and empties it. */
void protobuf_write(FILE *to, unsigned field, struct protobuf *message);

#endif
