/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "gather.h"

static void begin_span(struct gather *gather, uint64_t now)
{
	gather->before = gather->got;
	gather->got = 0;
	gather->since = now;
}

void gather_took(struct gather *gather, size_t size, uint64_t now)
{
	if (now >= gather->since + (uint64_t)GATHER_SPAN_MS * NS_PER_MS)
		begin_span(gather, now);
	gather->got += size;
	gather->piece += size;
	if (size || !gather->piece)
		return;
	gather->until = gather->got + gather->before < GATHER_LITTLE ? now + (uint64_t)GATHER_MS * NS_PER_MS : 0;
	gather->piece = 0;
}
