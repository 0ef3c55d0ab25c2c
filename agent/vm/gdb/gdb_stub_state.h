/* SPDX-License-Identifier: MIT */
/* The state of a dialogue. Private to gdb_stub.c, which drives it, gdb_greeting.c and gdb_sample.c. */
#ifndef GDB_STUB_STATE_H
#define GDB_STUB_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdb_packets.h"
#include "gdb_stub.h"
#include "gdb_target.h"
#include "kernel-hook/plugin/machine/target.h"

enum {
	GDB_CPUS = 256,			/* at most; further CPUs are not sampled */
	GDB_STACK = 2048,		/* bytes: QEMU gives no more at once */
	GDB_ASKED = 5 * GDB_CPUS + 9,	/* questions that may wait for their answers */
	GDB_TEXT = 1 << 18,		/* bytes of one file of the target description */
};

/* What was asked: answers come in the order of the questions. */
enum gdb_question { GDB_ASK_FEATURES, GDB_ASK_FILE, GDB_ASK_THREADS, GDB_ASK_CHOICE, GDB_ASK_REGISTERS, GDB_ASK_STACK,
	GDB_ASK_CODE, GDB_ASK_PLACE };

struct gdb_asked {
	enum gdb_question question;
	uint32_t cpu;
};

struct gdb_cpu {
	char id[32];			/* the stub's name of it */
	bool chosen;			/* the stub has made it the CPU of the next questions */
	bool known, idle;
	struct target_state state;	/* valid if known */
	uint32_t first;			/* bytes of the first part of its stack: up to the end of a page */
	uint32_t stack_size;		/* bytes read so far */
	uint8_t stack[GDB_STACK];
};

struct gdb_stub {
	int fd;
	enum gdb_state state;
	char error[160];
	uint64_t deadline;		/* when the state has lasted too long, host ns; UINT64_MAX: never */
	uint64_t now;			/* the time of the present step */
	bool held;			/* as far as is known, the machine is stopped, and by us */
	bool leaves;			/* the connection ends as soon as the machine runs */
	bool taken;			/* a sample became complete in this step */

	struct gdb_reader reader;
	struct gdb_writer writer;
	size_t sent;			/* bytes of `writer` that are sent */
	struct gdb_asked asked[GDB_ASKED];	/* in the order in which the answers come */
	size_t asked_first, asked_count;

	/* the greeting */
	struct gdb_target target;
	const struct target *cpu_target;
	size_t file;			/* which one is read: 0: target.xml; then those that it names */
	char *text;			/* as much of that file as has come */
	size_t text_size;

	struct gdb_cpu *cpus;
	uint32_t cpu_count;
	uint64_t place;			/* gdb_stub_look; 0: nothing to read */
	uint32_t place_size, seen_size;	/* bytes that are wanted there; bytes in `seen` */
	uint8_t seen[GDB_SEEN];
	uint64_t begun, stopped;	/* the last sample: host ns when it began; ns for which the machine stood */
};

/* Queues a question, and notes what it asks, for when its answer comes. */
void gdb_ask(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void gdb_enter(struct gdb_stub *stub, enum gdb_state state);
void gdb_confuse(struct gdb_stub *stub);	/* an answer does not fit its question */
void gdb_fail(struct gdb_stub *stub, const char *why);	/* leaves, and says why */
void gdb_go_on(struct gdb_stub *stub);		/* lets the machine run, if we have stopped it */

/* ---- gdb_greeting.c ---- */

void gdb_greet(struct gdb_stub *stub);
void gdb_take_greeting(struct gdb_stub *stub, enum gdb_question question, char *body, size_t size);

/* ---- gdb_sample.c ---- */

void gdb_ask_registers(struct gdb_stub *stub);
void gdb_ask_stacks(struct gdb_stub *stub);
void gdb_take_sample(struct gdb_stub *stub, struct gdb_asked asked, const char *body, size_t size);

#endif
