/* SPDX-License-Identifier: MIT */
/* ktop's side of the process that samples by the gdb stub (gdb_sampler.h). */
#ifndef GDB_PROCESS_H
#define GDB_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

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
