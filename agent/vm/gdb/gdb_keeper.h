/* SPDX-License-Identifier: MIT */
/*
 * A process of its own that waits for the end of the one that samples. If that one was killed while the machine stood
 * for it, the keeper lets the machine go on: QEMU itself does not when a debugger's connection ends. So ktop and
 * the process that samples may be killed at the same moment.
 */
#ifndef GDB_KEEPER_H
#define GDB_KEEPER_H

#include <stdbool.h>

struct gdb_keeper {			/* starts zeroed */
	volatile bool *held;		/* shared with the keeper; NULL: there is none */
};

/* `stub`: the connection to the stub, which the keeper has, too. It begins with the machine held. */
void gdb_keeper_start(struct gdb_keeper *keeper, int stub);

/* Before the machine may be stopped for a sample, and after it runs again. */
void gdb_keeper_hold(struct gdb_keeper *keeper, bool held);

#endif
