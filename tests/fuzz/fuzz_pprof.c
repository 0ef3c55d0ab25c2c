/* SPDX-License-Identifier: MIT */
/* Takes any bytes as a profile of pprof, and unpacks them first if they are packed by gzip. */
#include "agent/import/set_import.h"
#include "fuzzed_import.h"

static void fuzzed_gzip(const uint8_t *bytes, size_t size)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t before = budget_left(budget);
	struct gunzip unpacked;
	char *error = NULL;

	if (gunzip_all(&unpacked, (const char *)bytes, size, budget, &error)) {
		require(unpacked.size < unpacked.room && !unpacked.bytes[unpacked.size]);
		fuzzed_import(&import_pprof, (const uint8_t *)unpacked.bytes, unpacked.size);
	} else
		require_memory(error || budget_refused(budget));
	gunzip_clear(&unpacked, budget);
	require(budget_left(budget) == before);
	budget_release(budget);
	free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (gunzip_fits((const char *)bytes, size))
		fuzzed_gzip(bytes, size);
	else
		fuzzed_import(&import_pprof, bytes, size);
	return 0;
}
