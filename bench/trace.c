/* SPDX-License-Identifier: MIT */
/*
 * `trace FOLDER [MILLIONS]`: what trace events of a made-up guest cost: to decode, put in order, pair and keep each; to
 * answer a question about ten seconds of ten million; and how much memory an hour at 50,000 a second takes, or so many
 * millions of events at this rate. Leaves a recording of the first kind in the folder, for other readers to read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/answers/event_table.h"
#include "agent/answers/timeline.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/trace/trace.h"
#include "tests/unit/fakes/packets.h"
#include "intake.h"
#include "recorded.h"
#include "setup.h"

enum { RECORDED_BYTES = 100 << 20, QUESTION_S = 10, HOUR_S = 3600, COLUMNS = 160, RUNS = 5,
	ZOOMED_MS = 10, ASKED = 1008 };		/* of that range and this thread, Timeline is asked, too */

struct feeding {
	struct world *world;
	struct traffic *traffic;
	struct intake *intake;
	uint64_t spent;			/* ns of processor time for what was fed */
};

static struct feeding begin(const struct setup *setup)
{
	struct world *world = world_new(&setup->world);
	struct budget *budget = budget_new(BUDGET_MIB);
	struct feeding feeding = { world, traffic_new(world, &setup->traffic), intake_new(NULL, budget), 0 };

	budget_release(budget);
	traffic_hello(feeding.traffic);
	return feeding;
}

static void feed(struct feeding *feeding, uint64_t events)
{
	struct packets *packets = traffic_bytes(feeding->traffic);

	while (traffic_events(feeding->traffic) < events) {
		uint64_t begin;

		traffic_turn(feeding->traffic);
		begin = setup_spent();
		intake_feed(feeding->intake, packets->bytes, packets->size);
		feeding->spent += setup_spent() - begin;
		packets->size = 0;
	}
}

/* All events that were fed came, and none found no room. */
static void check(const struct feeding *feeding)
{
	const struct epoch *epoch = intake_epoch(feeding->intake);
	struct trace_counts counts = trace_counts(epoch->trace);
	uint64_t refused = counts.pairs.refused + span_rows_refused(trace_rows(epoch->trace));

	if (counts.events == traffic_events(feeding->traffic) && !counts.lost && !refused)
		return;
	fprintf(stderr, "trace: of the events some are missing, or found no room\n");
	exit(1);
}

static void end(struct feeding *feeding)
{
	check(feeding);
	intake_free(feeding->intake);
	traffic_free(feeding->traffic);
	world_free(feeding->world);
}

/* Milliseconds until a question of all that is kept has its answer: the median. */
static double ask(const struct feeding *feeding, const struct request *request)
{
	const struct moment moment = { .epoch = intake_epoch(feeding->intake) };
	double spent[RUNS];

	for (int i = 0; i < RUNS; i++) {
		uint64_t begin = setup_spent();

		answer_free(answer_new(request, &moment));
		spent[i] = (double)(setup_spent() - begin) / 1e6;
	}
	return setup_median(spent, RUNS);
}

static void print_questions(const struct feeding *feeding, const char *name)
{
	const struct epoch *epoch = intake_epoch(feeding->intake);
	struct event_request events;
	struct timeline_request timeline;

	memset(&events, 0, sizeof(events));
	memset(&timeline, 0, sizeof(timeline));
	events.request.kind = &event_table_kind;
	printf("trace_%s_events\t%.1f\tms\n", name, ask(feeding, &events.request));
	events.by = EVENT_BY_THREAD;
	printf("trace_%s_by_thread\t%.1f\tms\n", name, ask(feeding, &events.request));
	timeline.request.kind = &timeline_kind;
	timeline.columns = COLUMNS;
	timeline.of = timeline.focus = ASKED;
	printf("trace_%s_timeline\t%.1f\tms\n", name, ask(feeding, &timeline.request));
	timeline.request.excerpt = (struct excerpt) { .window_ns = ZOOMED_MS * NS_PER_MS, .moved = 1,
		.until_ns = span_rows_from(trace_rows(epoch->trace)) / 2 + epoch_now(epoch) / 2 };
	printf("trace_%s_zoom\t%.1f\tms\n", name, ask(feeding, &timeline.request));
}

/* Seconds of guest time of which anything is kept. */
static double reach(const struct feeding *feeding)
{
	const struct epoch *epoch = intake_epoch(feeding->intake);
	uint64_t from = span_rows_sums_from(trace_rows(epoch->trace));

	return (double)(epoch_now(epoch) - (from ? from : span_rows_first(trace_rows(epoch->trace)))) /
		(double)NS_PER_SECOND;
}

static double peak_mib(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)used.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
	struct setup setup = setup_parse(1, argv);
	uint64_t hour = 1000000 * (argc > 2 ? strtoull(argv[2], NULL, 10) : 180);
	struct feeding feeding;
	struct recorded made;

	if (argc < 2 || chdir(argv[1]) != 0) {
		fprintf(stderr, "usage: trace FOLDER [MILLIONS]\n");
		return 2;
	}
	setup.traffic.rate = 0;
	setup.traffic.events = 50000;
	setup.world.stacks = 1000;
	feeding = begin(&setup);
	feed(&feeding, hour);
	printf("trace_hour_memory\t%.0f\tMiB\n", peak_mib());
	printf("trace_hour_cost\t%.0f\tns\n", (double)feeding.spent / (double)traffic_events(feeding.traffic));
	printf("trace_hour_reach\t%.0f\ts\n", reach(&feeding));
	print_questions(&feeding, "hour");
	end(&feeding);

	setup.traffic.events = 1000000;
	feeding = begin(&setup);
	feed(&feeding, QUESTION_S * 1000000);
	printf("trace_cost\t%.0f\tns\n", (double)feeding.spent / (double)traffic_events(feeding.traffic));
	print_questions(&feeding, "ten");
	end(&feeding);

	made = recorded_make(&setup, RECORDED_BYTES);
	feeding = begin(&setup);
	feed(&feeding, made.events);
	printf("trace_recorded\t%.2f\tmillion\n", (double)made.events / 1e6);
	printf("trace_recorded_cpu\t%.2f\ts\n", (double)feeding.spent / (double)NS_PER_SECOND);
	end(&feeding);
	return 0;
}
