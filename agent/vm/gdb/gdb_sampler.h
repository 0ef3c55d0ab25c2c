/* SPDX-License-Identifier: MIT */
/*
 * The hook outside the guest, as a port of it to QEMU's gdb stub: it obeys control lines, and sends what the hook in a
 * guest would send. It is a process of its own, so that the guest goes on whatever becomes of ktop: when ktop ends, or
 * is killed, it lets a guest that is stopped for a sample go on, and ends.
 */
#ifndef GDB_SAMPLER_H
#define GDB_SAMPLER_H

#include <stdbool.h>

#define GDB_SAMPLER_WORD "gdb-sampler"	/* the command of ktop that does it, with `stub`; `port` is its stdin */

/*
 * Runs until nobody is at the other end of `port`, a connected socket that it takes over, or the stub has gone. `stub`
 * is where that one listens: unix:PATH or tcp:HOST:PORT. Prints why it ended, unless it was left. Returns false if
 * there was no sample to be had.
 */
bool gdb_sampler_run(int port, const char *stub);

#endif
