/* SPDX-License-Identifier: MIT */
/*
 * A machine with two CPUs behind a gdb stub, as QEMU's: each byte stops it while it runs. `c` lets it go on, and so
 * does the monitor's `cont`. Behind each packet of its own it drops all bytes until one acknowledges the packet, or
 * begins another. Stepped by the test, without a thread.
 */
#ifndef FAKE_GDB_H
#define FAKE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FAKE_GDB_SP = 0x80000f00,	/* low half of CPU 1's stack pointer; the page behind its page is missing */
	FAKE_GDB_CPUS = 2,
	FAKE_GDB_FRAMES = 64,
};

#define FAKE_GDB_PROGRAM UINT64_C(0x7ffe00001f80)	/* CPU 0's stack pointer: its page ends 0x80 bytes behind it */
#define FAKE_GDB_STACKS UINT64_C(0xffffc90000000000)

/* A page of the kernel's data, whose bytes count from 0, too; the page behind it is missing. */
#define FAKE_GDB_DATA UINT64_C(0xffffffff82345000)

/* CPU 1 tells there, in its own data, where the record of its thread is. The record is as FAKE_GDB_PLACES say. */
#define FAKE_GDB_POINTER UINT64_C(0xffff888000000020)
#define FAKE_GDB_TASK UINT64_C(0xffff888000123000)
#define FAKE_GDB_PLACES { .known = true, .pointer = 0x20, \
	.process = 0x10, .thread = 0x14, .memory = 0x20, .name = 0x30 }

#define FAKE_GDB_ARM_TASK UINT64_C(0xffff000001234000)
#define FAKE_GDB_ARM_PLACES { .known = true, .itself = true, \
	.process = 0x10, .thread = 0x14, .memory = 0x20, .name = 0x30 }

struct fake_gdb {
	int fd;				/* -1: closed */
	bool running;
	unsigned stops, continues;	/* by a byte; by `c`, or the monitor's `cont` */
	const char *architecture;
	bool arm;			/* aarch64, CPU 1 in its kernel; its SP_EL0 is `task`, or FAKE_GDB_ARM_TASK */
	bool riscv;			/* riscv64, without page tables; `privilege` is CPU 1's mode, CPU 0's is 0 */
	unsigned privilege;
	bool no_privilege;		/* an older QEMU, which does not tell the mode */
	bool mute;			/* takes everything, answers nothing */
	bool waits;			/* its last packet is not acknowledged */
	bool bounded;			/* reads no more than a byte at a time */
	bool tells_halted, halted;	/* it tells if CPUs are halted; CPU 1 is */
	unsigned cpu;			/* chosen by Hg */
	uint64_t task;			/* where CPU 1's record is said to be; 0: FAKE_GDB_TASK, where it is */
	uint64_t memory;		/* what that record has of its memory */
	uint64_t program_base;		/* CPU 1's GS base that a program has set; 0: none has */
	uint64_t sp;			/* of CPU 1; 0: FAKE_GDB_STACKS + FAKE_GDB_SP */
	bool program_stack;		/* the page of CPU 0's stack, a program's, is there: 0x80 bytes */
	uint64_t pc;			/* of CPU 1, aarch64 or riscv64; 0: in the kernel's half */
	bool deep;			/* the page behind its page is there, too */
	uint64_t link;			/* the topmost word of its stack, and a page that is there; 0: none */
	bool loose;			/* its stack ends with its page, and at no multiple of the size of a stack */
	uint64_t left;			/* of the program that its thread has left, the stack pointer; 0: of none */
	uint64_t device;		/* at this page of virtual memory there is a device; 0: nowhere */
	bool secretive;			/* its monitor prints nothing */
	bool migrated;			/* the end of a migration is under way: it must not run now */
	bool broken;			/* a device was read, or what is neither RAM nor device: QEMU would crash */
	uint64_t read;			/* the last virtual address in memory that was read */
	unsigned rounds, packets;	/* times that bytes came; packets that were answered */
	bool physical;			/* addresses of memory are physical */
	struct { uint64_t prefix; unsigned level; } tables[FAKE_GDB_FRAMES];	/* of page tables, behind the root's */
	unsigned table_count;
	bool tables_on_device;		/* those of the last level are on the device */
	uint64_t frames[FAKE_GDB_FRAMES];	/* the virtual pages that lie in RAM, one after the other */
	unsigned frame_count;
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
