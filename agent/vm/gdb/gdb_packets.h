/* SPDX-License-Identifier: MIT */
/*
 * Packets of GDB's remote protocol ("Overview" in GDB's manual): $BODY#SUM, where SUM is the sum of the body's bytes.
 * A body may have escaped and repeated bytes. No acknowledgements are sent: QEMU needs none, and any byte that comes
 * while the machine runs stops it.
 */
#ifndef GDB_PACKETS_H
#define GDB_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_BODY_MAX = 8192 };		/* bytes of one body: twice what QEMU sends at most */

/* Finds the packets in bytes that come in pieces. Starts zeroed. Damaged packets are skipped and counted. */
struct gdb_reader {
	enum { GDB_BETWEEN, GDB_BODY, GDB_ESCAPED, GDB_REPEATED, GDB_SUM } part;	/* what the next byte is of */
	unsigned sum, told;		/* the sum of the body's bytes; the sum that the packet tells */
	unsigned digits;		/* how many digits of that have come */
	bool bad;			/* this packet is damaged */
	size_t size;
	char body[GDB_BODY_MAX + 1];	/* ended by a zero byte */
	uint64_t damaged;		/* packets that were skipped so far */
};

/*
 * Takes bytes up to the end of the next packet, and returns how many. *whole: a packet is complete; it is in `body` and
 * `size` until the next call.
 */
size_t gdb_reader_take(struct gdb_reader *reader, const void *bytes, size_t count, bool *whole);

/* Packets that are to be sent, one after the other. */
struct gdb_writer {
	size_t size;
	bool full;			/* a packet had no room: no byte of it was added */
	char bytes[1 << 19];		/* room for all that a sample of 256 CPUs asks at once */
};

/* Adds the packet with this body. No byte of the body may need an escape: $, #, } and *. */
void gdb_writer_put(struct gdb_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gdb_writer_clear(struct gdb_writer *writer);

/* Turns pairs of hexadecimal digits into bytes, at most `most`, up to the first pair that is none. Returns how many. */
size_t gdb_bytes(const char *digits, size_t size, uint8_t *to, size_t most);

#endif
