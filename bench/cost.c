/* SPDX-License-Identifier: MIT */
/*
 * `cost name=value...` prints what it costs to take in one sample (ns) and to make one answer (ms), and the number of
 * rows of the last answer. An answer is the table of the last ten seconds; one is made for each tenth of a second of
 * guest time.
 */
#include <stdio.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/query/table.h"
#include "tests/unit/fakes/packets.h"
#include "intake.h"
#include "setup.h"

enum {
	TURNS_PER_ANSWER = 100 / TRAFFIC_TURN_MS,
	SHOWN = 100,			/* rows that a screen puts in order */
};

struct cost {
	uint64_t taking, answering;	/* ns of processor time */
	double answers;
	double rows;			/* of the last answer */
};

static void take(struct cost *cost, struct intake *intake, struct packets *packets)
{
	uint64_t begin = setup_spent();

	intake_feed(intake, packets->bytes, packets->size);
	cost->taking += setup_spent() - begin;
	packets->size = 0;
}

static void answer(struct cost *cost, const struct epoch *epoch)
{
	const uint64_t now = epoch_now(epoch), window = 10 * NS_PER_SECOND;
	const struct question question = {
		.from = now > window ? now - window : 0, .to = UINT64_MAX };
	uint64_t begin = setup_spent();
	struct table *table = query_table(epoch->query, &question);

	table_sort_first(table, epoch->inputs.symbols, COLUMN_SELF, false, SHOWN);
	cost->answering += setup_spent() - begin;
	cost->answers++;
	cost->rows = (double)table->count;
	table_free(table);
}

int main(int argc, char **argv)
{
	struct setup setup = setup_parse(argc, argv);
	struct world *world = world_new(&setup.world);
	struct traffic *traffic = traffic_new(world, &setup.traffic);
	struct intake *intake = intake_new(setup.names, NULL);
	struct cost cost = { 0 };

	traffic_hello(traffic);
	for (uint32_t turn = 1; traffic_samples(traffic) < setup.samples; turn++) {
		traffic_turn(traffic);
		take(&cost, intake, traffic_bytes(traffic));
		if (turn % TURNS_PER_ANSWER == 0)
			answer(&cost, intake_epoch(intake));
	}
	intake_check(intake, traffic_samples(traffic));
	printf("%.0f\t%.2f\t%.0f\n", (double)cost.taking / (double)traffic_samples(traffic),
		(double)cost.answering / cost.answers / 1e6, cost.rows);
	intake_free(intake);
	traffic_free(traffic);
	world_free(world);
	return 0;
}
