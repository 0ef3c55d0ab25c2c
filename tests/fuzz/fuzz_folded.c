/* SPDX-License-Identifier: MIT */
/* Takes any bytes as folded stacks. */
#include "agent/import/set_import.h"
#include "fuzzed_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	fuzzed_import(&import_folded, bytes, size);
	return 0;
}
