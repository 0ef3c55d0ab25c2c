/* SPDX-License-Identifier: MIT */
/* Any bytes as ORC tables: a byte for where they lie, then as many of 4 bytes as of 6. */
#include <string.h>

#include "agent/names/linux/orc.h"
#include "fuzz.h"

/* The lowest address of an entry: each word is the distance from itself to the code. */
static uint64_t lowest(const struct orc_tables *tables, size_t count)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		int32_t distance;
		uint64_t address;

		memcpy(&distance, tables->ips + 4 * i, sizeof(distance));
		address = tables->address + 4 * i + (uint64_t)(int64_t)distance;
		least = address < least ? address : least;
	}
	return least;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	uint64_t address = (uint64_t)input_byte(&input) << 56 | 0x81000000;
	size_t count = input.left / 10;
	uint64_t start;
	struct orc_tables tables = { .address = address, .ips_size = 4 * count, .entries_size = 6 * count };
	struct orc_entry entry;
	struct orc *orc;

	input_bytes(&input, &tables.ips, tables.ips_size);
	input_bytes(&input, &tables.entries, tables.entries_size);
	orc = orc_new(&tables, orc_format_of(&tables), NULL);
	if (!orc)
		return 0;
	start = lowest(&tables, count);
	require(!(start && orc_find(orc, start - 1, &entry)));
	for (uint64_t above = 0; above < 1 << 20; above = 3 * above + 1) {
		if (start + above < start)
			break;
		require(orc_find(orc, start + above, &entry));
		require(entry.type <= ORC_TYPE_REGS_PARTIAL && (unsigned)entry.sp < 16 && (unsigned)entry.bp < 16);
	}
	orc_free(orc);
	return 0;
}
