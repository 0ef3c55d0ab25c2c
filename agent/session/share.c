/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "share.h"
#include "turn.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct share *share_list(const struct shares *shares, struct share *last, struct share *share)
{
	last->next = share;
	if (!share->answered)
		share->rest = shares->left.rest;
	return share;
}

/* Pays the same amount of each debt: the smallest debt, or an equal part of the time. False: nothing more to pay. */
static bool pay_all_alike(struct shares *shares, uint64_t now)
{
	uint64_t count = 0, least = UINT64_MAX, each;

	for (struct share *i = &shares->left; i; i = i->next)
		if (i->debt) {
			count++;
			least = lesser(least, i->debt);
		}
	if (!count) {
		shares->paid = now;
		return false;
	}
	each = lesser(least, (now - shares->paid) / count);
	for (struct share *i = &shares->left; i; i = i->next)
		i->debt -= lesser(i->debt, each);
	shares->paid += each * count;
	return each;
}

void shares_pay(struct shares *shares, uint64_t now)
{
	while (shares->paid < now && pay_all_alike(shares, now))
		;
}

void shares_rest(struct shares *shares, uint64_t begin, uint64_t end)
{
	for (struct share *i = &shares->left; i; i = i->next) {
		uint64_t own = i->answered ? i->took : UINT64_MAX;

		i->rest = greater(i->rest, end + lesser(own, end - begin));
	}
	shares->paid = end;
}

/* How long it takes to pay this share's debt: meanwhile as much of each larger debt is paid, and each smaller one. */
static uint64_t still_owed(const struct shares *shares, const struct share *share)
{
	uint64_t sum = 0;

	for (const struct share *i = &shares->left; i && share->debt; i = i->next)
		sum += lesser(i->debt, share->debt);
	return sum;
}

uint64_t share_due(const struct shares *shares, const struct share *share, uint64_t pause)
{
	return greater(share->begun + pause,
		greater(share->rest, share->debt ? shares->paid + still_owed(shares, share) : 0));
}

bool share_allows(const struct share *share, uint64_t now)
{
	return !share->debt && share->rest <= now;
}

bool share_is_short(const struct share *share)
{
	return share->answered && share->took <= (uint64_t)TURN_MS * NS_PER_MS;
}

bool share_is_before(const struct share *share, const struct share *other)
{
	return share->passed != other->passed ? share->passed > other->passed : share->took < other->took;
}

void share_answered(struct share *share, uint64_t pause, uint64_t begin, uint64_t end)
{
	uint64_t due = share->begun + pause;
	bool late = begin > due + pause / 2;

	share->begun = late ? begin : lesser(due, begin);
	share->answered = end;
	share->took = end - begin;
	share->debt += share->took;
	share->passed = 0;
}

void share_passed(struct share *share)
{
	share->passed++;
}

void share_leave(struct shares *shares, const struct share *share)
{
	shares->left.debt += share->debt;
}
