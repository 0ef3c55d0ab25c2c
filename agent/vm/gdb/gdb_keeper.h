/* SPDX-License-Identifier: MIT */
/*
 * A process of its own that waits for the end of the one that samples. If that one was killed while the machine stood
 * for it, the keeper lets the machine go on: QEMU itself does not when a debugger's connection ends. So ktop and
 * the process that samples may be killed at the same moment.
 */
#ifndef GDB_KEEPER_H
#define GDB_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

struct gdb_keeper {			/* starts zeroed */
	volatile bool *held;		/* shared with the keeper; NULL: there is none */
};

/* `stub`: the connection to the stub, which the keeper has, too. It begins with the machine held. */
void gdb_keeper_start(struct gdb_keeper *keeper, int stub);

/* Before the machine may be stopped for a sample, and after it runs again. */
void gdb_keeper_hold(struct gdb_keeper *keeper, bool held);

/* ---- its process ---- */

/* ktop's side of the process that samples by the gdb stub (gdb_sampler.h). */

struct gdb_process {
	pid_t pid;			/* 0: there is none */
	int said;			/* a pipe from it, for what goes wrong; -1: there is none */
};

/*
 * Returns ktop's end of the socket that serves as the port. Once ktop closes it, the process ends by itself. -1 with
 * `error` set: no process was started.
 */
int gdb_process_start(struct gdb_process *process, const char *stub, char **error);

/*
 * Has the process ended? Never waits. If so: *killed: a signal ended it, so it may have left the machine stopped. *why:
 * what it wrote, in fresh memory; NULL: nothing.
 */
bool gdb_process_ended(struct gdb_process *process, bool *killed, char **why);

/* Gives the process up, and does not wait for its end. It ends by itself. */
void gdb_process_leave(struct gdb_process *process);

#endif
