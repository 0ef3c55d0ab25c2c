/* SPDX-License-Identifier: MIT */
/*
 * Packets of GDB's remote protocol ("Overview" in GDB's manual): $BODY#SUM, where SUM is the sum of the body's bytes.
 * A body may have escaped and repeated bytes. Acknowledgements are neither sent nor needed: QEMU does without, and a
 * byte that comes while its machine runs stops that machine.
 */
#ifndef GDB_PACKETS_H
#define GDB_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_BODY_MAX = 8192 };		/* bytes of one body: twice what QEMU sends at most */

/* Finds the packets in bytes that come in pieces. Starts zeroed. What is no good packet is skipped and counted. */
struct gdb_reader {
	enum { GDB_BETWEEN, GDB_BODY, GDB_ESCAPED, GDB_REPEATED, GDB_SUM } part;
	unsigned sum, told;		/* of the body's bytes; as the packet tells it */
	unsigned digits;		/* of the sum, that have come */
	bool bad;
	size_t size;
	char body[GDB_BODY_MAX + 1];	/* ended by a zero byte */
	uint64_t damaged;		/* packets that were skipped so far */
};

/*
 * Takes bytes up to the end of the next packet, and returns how many. *whole: there it is, in body and size, until the
 * next call.
 */
size_t gdb_reader_take(struct gdb_reader *reader, const void *bytes, size_t count, bool *whole);

/* Packets to send, one after the other. */
struct gdb_writer {
	size_t size;
	bool full;			/* a packet had no room: nothing of it is there */
	char bytes[32768];
};

/* Adds the packet with this body, which has no byte that would have to be escaped. */
void gdb_writer_put(struct gdb_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gdb_writer_clear(struct gdb_writer *writer);

/* Reads pairs of hexadecimal digits, at most `most` of them; returns how many, up to the first that is none. */
size_t gdb_bytes(const char *digits, size_t size, uint8_t *to, size_t most);

#endif
