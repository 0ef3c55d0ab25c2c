/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "gather.h"

void gather_took(struct gather *gather, size_t size, uint64_t now)
{
	gather->got += size;
	if (size || !gather->got)
		return;
	gather->until = gather->got < GATHER_LITTLE ? now + (uint64_t)GATHER_MS * NS_PER_MS : 0;
	gather->got = 0;
}
