/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "agent/store/store.h"
#include "haste.h"

#define LONG_AGO (2 * NS_PER_SECOND)
#define JUST_BEFORE (2 * STORE_SLICE_NS)

struct haste haste_of(uint64_t counts, uint64_t to, uint64_t end)
{
	struct haste haste = { .counts = counts, .new = UINT64_MAX };

	if (end && to < end + LONG_AGO)
		haste.new = end > JUST_BEFORE ? end - JUST_BEFORE : 0;
	return haste;
}

static uint64_t counts_of(const struct slice *slice)
{
	uint64_t counts = 0;

	for (size_t i = 0; i < slice->run_count; i++)
		counts += slice->runs[i]->counts;
	return counts;
}

bool haste_allows(struct haste *haste, const struct slice *slice)
{
	uint64_t counts;

	if (slice->begin >= haste->new)
		return true;
	if (!haste->counts)
		return false;
	counts = counts_of(slice);
	haste->counts -= counts < haste->counts ? counts : haste->counts;
	return true;
}
