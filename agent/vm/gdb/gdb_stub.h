/* SPDX-License-Identifier: MIT */
/*
 * A dialogue with QEMU's gdb stub: it stops the machine, reads registers and stacks of all its CPUs, and lets it go on.
 * The caller's loop steps it, and it never waits. Nothing that the stub says is trusted.
 *
 * To connect stops the machine, and so does each byte that is sent while it runs. Only a machine that this dialogue has
 * stopped is let go on by it: one that somebody else has stopped stays as it is, and is looked at now and then. Of a
 * stop by somebody else while it is stopped for a sample, QEMU tells nothing: it then goes on.
 *
 * No memory is read but the stack, where the program counter says that sp is a kernel's, and the instruction before the
 * program counter: QEMU does not survive it if a debugger reads some devices.
 */
#ifndef GDB_STUB_H
#define GDB_STUB_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gdb_stub;
struct target_state;

enum gdb_state {
	GDB_GREETING,			/* the machine is stopped: what is it? */
	GDB_RUNNING,			/* the machine runs; ready for a sample */
	GDB_PAUSED,			/* somebody else has stopped it; ready to look whether it runs again */
	GDB_REGISTERS, GDB_STACKS,	/* a sample is under way, and the machine is stopped */
	GDB_CONFUSED,			/* the answers do not fit the questions: finds back, then lets it go on */
	GDB_LEAVING,			/* lets it go on if need be; then it is gone */
	GDB_GONE,			/* no connection */
};

/* Takes over the socket, which does not block and is connected to a machine that ran, or is about to be. */
struct gdb_stub *gdb_stub_new(int fd, uint64_t now);
void gdb_stub_free(struct gdb_stub *stub);

enum gdb_state gdb_stub_state(const struct gdb_stub *stub);
const char *gdb_stub_error(const struct gdb_stub *stub);	/* why it is gone; "": it left */

/* For the caller's poll, and when the next step is due if nothing comes. */
struct pollfd gdb_stub_wait(const struct gdb_stub *stub);
uint64_t gdb_stub_due(const struct gdb_stub *stub);

/* True: a sample is complete; it stays until the next one is begun. */
bool gdb_stub_step(struct gdb_stub *stub, uint64_t now);

/* Begins a sample, where the state is ready for it. */
void gdb_stub_sample(struct gdb_stub *stub, uint64_t now);

/*
 * No sample is begun any more. The caller steps until it is gone: by then the machine runs, unless somebody else has
 * stopped it.
 */
void gdb_stub_leave(struct gdb_stub *stub, uint64_t now);

/* After the greeting. */
const char *gdb_stub_arch(const struct gdb_stub *stub);
uint32_t gdb_stub_cpus(const struct gdb_stub *stub);

/*
 * Has the next sample read so many bytes at this virtual address of the first CPU, too: the caller knows that no device
 * is there. gdb_stub_seen: what was read; NULL: nothing.
 */
enum { GDB_SEEN = 64 };			/* bytes at most */
void gdb_stub_look(struct gdb_stub *stub, uint64_t address, uint32_t size);
const uint8_t *gdb_stub_seen(const struct gdb_stub *stub, uint32_t size);

/* Of the last sample: a CPU's registers, and bytes from its stack pointer on. NULL: they could not be read. */
struct gdb_stack {
	const uint8_t *bytes;
	uint32_t size;
};
const struct target_state *gdb_stub_cpu(const struct gdb_stub *stub, uint32_t cpu, struct gdb_stack *stack);
bool gdb_stub_idle(const struct gdb_stub *stub, uint32_t cpu);	/* it waits at the instruction for that */
uint64_t gdb_stub_stopped(const struct gdb_stub *stub);		/* ns that the machine was stopped for it */

#endif
