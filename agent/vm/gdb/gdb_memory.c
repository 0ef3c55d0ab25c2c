/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gdb_memory.h"
#include "gdb_stub.h"
#include "kernel-hook/plugin/reads.h"

void gdb_memory_look(struct gdb_stub *stub)
{
	uint64_t wanted[GDB_PAGES];

	gdb_stub_read(stub, wanted, reads_peek(wanted, GDB_PAGES));
}

/* What is not RAM counts as not mapped (gdb_frames.c). */
static uint32_t page_of(void *context, bool physical, uint64_t address, uint8_t *to)
{
	const struct gdb_stub *stub = context;
	const uint8_t *bytes;

	if (physical)
		return gdb_stub_physical(stub, address, to, GDB_PAGE) ? GDB_PAGE : 0;
	if (!gdb_stub_page(stub, address, &bytes))
		return READS_LATER;
	if (bytes)
		memcpy(to, bytes, GDB_PAGE);
	return bytes ? GDB_PAGE : 0;
}

void gdb_memory_take(struct gdb_stub *stub, uint64_t now)
{
	const struct reads_reader reader = { .page = page_of, .context = stub, .most = GDB_PAGES };

	if (reads_wanted())
		reads_serve(&reader, gdb_stub_in_kernel(stub), now);
}
