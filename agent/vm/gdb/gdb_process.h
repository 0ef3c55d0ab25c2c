/* SPDX-License-Identifier: MIT */
/* The process that samples (gdb_sampler.h), seen from ktop. */
#ifndef GDB_PROCESS_H
#define GDB_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct gdb_process {
	pid_t pid;			/* 0: there is none */
	int said;			/* what it says at its end, if something went wrong; -1: there is none */
};

/* Returns ktop's end of its port; -1 with `error` set. The process ends by itself once that is closed. */
int gdb_process_start(struct gdb_process *process, const char *stub, char **error);

/*
 * Has it ended? Never waits. *killed: it did not end by itself, so it may have left the machine stopped. *why: what it
 * has said, in fresh memory; NULL: nothing.
 */
bool gdb_process_ended(struct gdb_process *process, bool *killed, char **why);

/* Forgets it; it ends by itself. */
void gdb_process_leave(struct gdb_process *process);

#endif
