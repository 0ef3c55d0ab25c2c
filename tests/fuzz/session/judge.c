/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/fakes/work.h"
#include "judge.h"

enum {
	COST_MOST = 100,		/* times an honest byte's */
	COST_NOISE = 15000000,		/* a cost below this is never too dear, however few the bytes */
	BOOT = 6000000,			/* allowed in addition for each boot */
	LEVEL_LEAST = 500000,		/* a cost below this is of level 0 */
	IDLE_MOST = 5000,
};

static uint64_t of_others(void)
{
	poll(NULL, 0, 1);		/* it ends when they rest (tests/unit/clock.h) */
	return work_of_all() - work_done();
}

void judge_begin(struct judge *judge)
{
	judge->all_begun = of_others();
	judge->too_dear = false;
}

void judge_step(struct judge *judge)
{
	judge->begun = work_done();
}

void judge_idle(struct judge *judge, uint64_t cost)
{
	judge->begun += cost < IDLE_MOST ? cost : 0;
}

void judge_honest(struct judge *judge, uint64_t bytes)
{
	judge->honest = (double)(work_done() - judge->begun) / (double)bytes;
	require(judge->honest > 0);
}

static bool is_good(const struct judge *judge, uint64_t cost, const struct judge_bill *bill)
{
	uint64_t free_of = COST_NOISE + (uint64_t)bill->boots * BOOT;

	return cost < free_of || (double)(cost - free_of) < COST_MOST * judge->honest * (double)bill->bytes;
}

static int judge_cost(struct judge *judge, uint64_t cost, const struct judge_bill *bill)
{
	double times = (double)cost / (judge->honest * ((double)bill->bytes + 1));
	bool good = is_good(judge, cost, bill);
	int level = 0;

	if (getenv("COSTS") || !good)
		fprintf(stderr, "%s: %llu bytes, %u boots, %llu units, %.1f times an honest byte%s\n",
			bill->what, (unsigned long long)bill->bytes, bill->boots,
			(unsigned long long)cost, times, good ? "" : ": too dear");
	judge->too_dear = judge->too_dear || !good;
	for (double most = 2; cost > LEVEL_LEAST && times > most &&
			level < JUDGE_LEVELS - 1; most *= 1.5)
		level++;
	return level;
}

int judge_end_step(struct judge *judge, const struct judge_bill *bill)
{
	return judge_cost(judge, work_done() - judge->begun, bill);
}

int judge_end(struct judge *judge, const struct judge_bill *bill)
{
	uint64_t others = of_others();

	/* Each thread tells of its work after so many units. */
	return judge_cost(judge, others > judge->all_begun ? others - judge->all_begun : 0, bill);
}
