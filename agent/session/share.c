/* SPDX-License-Identifier: MIT */
#include "share.h"

uint64_t share_due(const struct share *share, uint64_t pause)
{
	return share->answered + (pause > share->took ? pause : share->took);
}

bool share_is_before(const struct share *share, const struct share *other)
{
	return share->passed != other->passed ? share->passed > other->passed : share->took < other->took;
}

void share_answered(struct share *share, uint64_t begin, uint64_t end)
{
	*share = (struct share) { .answered = end, .took = end - begin };
}

void share_passed(struct share *share)
{
	share->passed++;
}
