/* SPDX-License-Identifier: MIT */
/* Pages of the guest's memory that the host asks for, read by the gdb stub while the guest is stopped for a sample. */
#ifndef GDB_MEMORY_H
#define GDB_MEMORY_H

#include <stdint.h>

struct gdb_stub;

/* Before a sample: has the stub read some of the pages that are asked for (reads.h). */
void gdb_memory_look(struct gdb_stub *stub);

/* After it: takes them. `now`: ns. */
void gdb_memory_take(struct gdb_stub *stub, uint64_t now);

#endif
