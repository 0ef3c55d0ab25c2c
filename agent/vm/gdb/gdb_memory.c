/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gdb_memory.h"
#include "gdb_stub.h"
#include "kernel-hook/plugin/ram.h"
#include "kernel-hook/plugin/reads.h"

/* May the page be asked for? In a file there are no devices; elsewhere it has to be known that none is there. */
static bool is_safe(const struct gdb_stub *stub, uint64_t address)
{
	return gdb_stub_is_direct(stub) || gdb_stub_walks(stub) || ram_is(gdb_stub_arch(stub), address);
}

void gdb_memory_look(struct gdb_stub *stub)
{
	uint64_t wanted[GDB_PAGES];
	uint32_t count = reads_peek(wanted, GDB_PAGES), safe = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_safe(stub, wanted[i]))
			wanted[safe++] = wanted[i];
	gdb_stub_read(stub, wanted, safe);
}

/* What may be a device counts as not mapped. */
static uint32_t page_of(void *context, bool physical, uint64_t address, uint8_t *to)
{
	const struct gdb_stub *stub = context;
	const uint8_t *bytes;

	if (physical)
		return gdb_stub_physical(stub, address, to, GDB_PAGE) ? GDB_PAGE : 0;
	if (!is_safe(stub, address))
		return 0;
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
