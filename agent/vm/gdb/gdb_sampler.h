/* SPDX-License-Identifier: MIT */
/*
 * The hook outside the guest, as a port to QEMU's gdb stub: it obeys control lines, and sends what a hook in the guest
 * would send. It is a process of its own, so that the guest runs on whatever happens to ktop. When ktop ends or is
 * killed, the process lets the guest go on, if it is stopped for a sample, and then ends.
 */
#ifndef GDB_SAMPLER_H
#define GDB_SAMPLER_H

#include <stdbool.h>

#define GDB_SAMPLER_WORD "gdb-sampler"	/* ktop's command for it; its argument is `stub`, its stdin `port` */

/*
 * Owns `port`, a connected socket, from now on. Runs until the other end of `port` is closed, or the stub is gone.
 * `stub`: where the stub listens, unix:PATH or tcp:HOST:PORT. Prints why it ended, unless `port` was closed. False: no
 * sample could be taken.
 */
bool gdb_sampler_run(int port, const char *stub);

#endif
