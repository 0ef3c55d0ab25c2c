/* SPDX-License-Identifier: MIT */
/* What a QEMU says that is asked for pages of its guest's memory. */
#include "agent/base/util.h"
#include "agent/vm/qmp/qmp_memory.h"
#include "fuzzed_qmp.h"

enum { CPUS = 2, PAGES = 3 };

#define ADDRESS 0xffffffff81042000

/* The map of the machine's RAM, which the first answer tells, stays from page to page. */
static void read_pages(struct qmp *qmp)
{
	struct qmp_memory memory = { .mapped = false };

	for (uint64_t i = 0; i < PAGES; i++) {
		bool whole;

		memory_begin(&memory, qmp, CPUS, ADDRESS + i * QMP_PAGE, util_now(), QMP_WAIT_MS);
		whole = loop_talk(&memory.talk);
		require(!memory.there || (whole && memory.mapped && memory.physical % QMP_PAGE == 0 &&
			ram_map_has(&memory.map, memory.physical, QMP_PAGE)));
		memory_clear(&memory);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	talk_to_qmp(bytes, size, read_pages);
	return 0;
}
