/* SPDX-License-Identifier: MIT */
/* Any bytes as ORC tables: a byte for where they lie, then as many of 4 bytes as of 6. */
#include "agent/names/linux/orc.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	uint64_t address = (uint64_t)input_byte(&input) << 56 | 0x81000000;
	size_t count = input.left / 10;
	struct orc_tables tables = { .address = address, .ips_size = 4 * count, .entries_size = 6 * count };
	struct orc_entry entry;
	struct orc *orc;

	input_bytes(&input, &tables.ips, tables.ips_size);
	input_bytes(&input, &tables.entries, tables.entries_size);
	orc = orc_new(&tables, orc_format_of(&tables), NULL);
	if (!orc)
		return 0;
	require(orc_count(orc) == count && !(orc_start(orc) && orc_find(orc, orc_start(orc) - 1, &entry)));
	for (uint64_t above = 0; above < 1 << 20; above = 3 * above + 1) {
		if (orc_start(orc) + above < orc_start(orc))
			break;
		require(orc_find(orc, orc_start(orc) + above, &entry));
		require(entry.type <= ORC_TYPE_REGS_PARTIAL && (unsigned)entry.sp < 16 && (unsigned)entry.bp < 16);
	}
	orc_free(orc);
	return 0;
}
