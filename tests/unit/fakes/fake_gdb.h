/* SPDX-License-Identifier: MIT */
/*
 * A machine with two CPUs behind a gdb stub, as QEMU's: each byte stops it while it runs, and only `c` lets it go on.
 * Stepped by the test, without a thread.
 */
#ifndef FAKE_GDB_H
#define FAKE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FAKE_GDB_SP = 0x80000f00,	/* low half of CPU 1's stack pointer; the page behind its page is missing */
	FAKE_GDB_CPUS = 2,
};

struct fake_gdb {
	int fd;				/* -1: closed */
	bool running;
	unsigned stops, continues;	/* by a byte; by `c` */
	const char *architecture;
	bool mute;			/* takes everything, answers nothing */
	bool bounded;			/* reads no more than a byte at a time */
	unsigned cpu;			/* chosen by Hg */
	size_t size;			/* of the packet that is coming */
	char packet[512];
};

/* Makes the machine, which a connection has stopped; returns the client's end. */
int fake_gdb_begin(struct fake_gdb *fake);
void fake_gdb_end(struct fake_gdb *fake);

/* Takes what has come, and answers. */
void fake_gdb_step(struct fake_gdb *fake);

/* Somebody else, at QEMU's monitor. */
void fake_gdb_stop(struct fake_gdb *fake);

void fake_gdb_say(struct fake_gdb *fake, const char *body);	/* a packet with this body */

#endif
