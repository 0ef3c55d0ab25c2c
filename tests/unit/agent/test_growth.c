/* SPDX-License-Identifier: MIT */
/*
 * The cost of a question grows in proportion to the guest, and not with its square. Each question is asked of a guest
 * with so many functions and stacks, and of one with eight times as many. What counts is the work.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/query/table.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/store/store.h"
#include "agent/wire/decode.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"
#include "tests/unit/fakes/sums.h"
#include "tests/unit/fakes/work.h"

enum {
	FUNCTIONS = 750, DEPTH = 6,	/* the smaller guest has so many; and ten times as many stacks */
	TIMES = 8, MOST = 24,		/* the larger guest; the largest growth of the cost (the square would be 64) */
	PACKET = 100, ROUNDS = 3,
};
static const uint64_t first_address = 0x1000;

struct grown {
	struct fixture fixture;
	struct epoch *epoch;
	struct question question;
	unsigned times, round;
};

/* ---- a guest of that size ---- */

static unsigned functions(unsigned times)
{
	return times * (unsigned)quick_part(FUNCTIONS, 3);
}

static unsigned stacks(unsigned times)
{
	return 10 * functions(times);
}

static const char *write_names(unsigned count)
{
	const char *path = scratch_path("names");
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "%016x T _start\n", (unsigned)first_address);
	for (unsigned i = 1; i < count; i++)
		fprintf(file, "%016x T function_%u\n", (unsigned)first_address + 16 * i, i * 7919 % count);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* Makes a stack. Its last frames are random; many stacks have its first ones. */
static void put_stack(struct body *body, uint64_t number, unsigned functions)
{
	uint64_t frames[DEPTH], seed = number * 2654435761u + 88172645463325252u;

	for (unsigned i = 0; i < DEPTH; i++)
		frames[i] = first_address + 4 + 16 * (random_next(&seed) % (i < 3 ? functions : 16));
	body_list(body, frames, DEPTH, sizeof(frames[0]));
	body_list(body, NULL, 0, sizeof(frames[0]));
}

static void put_packet(struct fake_guest *guest, uint64_t from, unsigned times)
{
	guest->clock += 40 * FAKE_GUEST_TICKS_PER_MS / times;	/* both guests get as many slices */
	packets_begin(guest->packets, KTOP_SAMPLES, 0, guest->clock);
	for (uint64_t i = from; i < from + PACKET; i++) {
		const struct ktop_wire_sample sample = { .process = KTOP_KERNEL, .weight = 1,
			.thread = (uint32_t)i % 8, .mode = KTOP_MODE_KERNEL, .exact = 1 };
		struct body body = { 0 };

		body_fixed(&body, &sample, sizeof(sample));
		put_stack(&body, i, functions(times));
		packets_event(guest->packets, guest->clock, KTOP_EVENT_sample, &body);
	}
	packets_end(guest->packets, guest->clock);
}

static void grow(struct grown *grown, unsigned times)
{
	struct session_options options = { .symbols = write_names(functions(times)) };
	struct fake_guest *guest;

	*grown = (struct grown) { .times = times, .fixture = fixture_begin(&options),
		.question = { .to = UINT64_MAX } };
	guest = grown->fixture.guest;
	fixture_bring_up(&grown->fixture);
	grown->epoch = session_epoch(grown->fixture.session);
	for (uint64_t i = 0; i < stacks(times); i += PACKET)
		put_packet(guest, i, times);
	while (decode_counts(session_decode(grown->fixture.session)).bytes < guest->packets->size)
		fixture_step(&grown->fixture);
	store_settle(grown->epoch->inputs.store);
	assert_in_range(store_sum(grown->epoch->inputs.store), stacks(times) / 2, stacks(times));
}

/* ---- questions; no round asks what an earlier one asked ---- */

static struct question asked(const struct grown *grown)
{
	struct question question = grown->question;

	question.filter = filter_of(grown->round % 2 ? "mode:kernel|user" : "mode:kernel");
	return question;
}

static void ask_table(struct grown *grown)
{
	struct question question = asked(grown);
	struct table *table = query_table(grown->epoch->query, &question);

	assert_in_range(table->count, functions(grown->times) / 2, functions(grown->times));
	table_sort(table, grown->epoch->inputs.symbols, COLUMN_FUNCTION, false);
	table_free(table);
}

static void ask_callers(struct grown *grown)
{
	struct question question = asked(grown);
	struct caller callers[8];

	query_callers(grown->epoch->query, &question, 20 + grown->round, callers, 8);
}

static void write_report(struct grown *grown, bool json)
{
	struct report report = { .session = grown->fixture.session, .epoch = grown->epoch, .request = report_default };
	const struct profile_request question = { .callers = json,
		.request.excerpt.filter = asked(grown).filter };
	char *text;
	size_t size;
	FILE *out = util_text_open(&text, &size);

	report.request.top = 0;
	report.profile = (struct profile *)profile_kind.make(&question.request,
		&(struct moment) { .epoch = grown->epoch, .past = true });
	if (json)
		assert_true(report_json(&report, out, NULL));
	else
		report_text(&report, out);
	free(util_text_close(out, &text));
	assert_true(size > functions(grown->times) * 10);
	answer_free((struct answer *)report.profile);
}

static void ask_text(struct grown *grown)
{
	write_report(grown, false);
}

static void ask_json(struct grown *grown)
{
	write_report(grown, true);
}

static void ask_stacks(struct grown *grown)
{
	struct question question = asked(grown);
	const struct export_choice choice = export_stacks(EXPORT_FOLDED,
		(struct stack_options) { .kernel_mark = true });
	struct export *export = export_new(&choice, &(struct export_input) {
		.query = grown->epoch->query, .inputs = &grown->epoch->inputs, .question = &question });
	struct export_result result;

	assert_true(export_write(export, scratch_path("folded"), &result, NULL));
	assert_true(result.stacks > stacks(grown->times) / 2);
	export_free(export);
}

/* The machine is in a fleet twice, so that its answers are merged by name. */
static void ask_fleet(struct grown *grown)
{
	static const char *const names[] = { "1 a", "2 b" };
	const struct vitals_request vitals = answers_vitals_request();
	const struct function_request functions = answers_function_request();
	struct fleet *fleet = fleet_new(names, 2, NULL);
	struct meter meter;

	meter_clear(&meter);
	for (size_t i = 0; i < 2; i++) {
		const struct moment moment = { .epoch = grown->epoch, .trouble = "",
			.decode = session_decode(grown->fixture.session), .meter = &meter };

		fleet_take(fleet, i, answer_new(&vitals.request, &moment), util_now());
		fleet_take(fleet, i, answer_new(&functions.request, &moment), util_now());
	}
	answer_free((struct answer *)fleet_vitals(fleet, util_now()));
	answer_free((struct answer *)fleet_functions(fleet, util_now()));
	fleet_free(fleet);
}

/* The guest's clock leaps: all slices become one. */
static void leap(struct grown *grown)
{
	struct store *store = grown->epoch->inputs.store;

	if (grown->round > 0)
		return;
	store_advance(store, store_now(store) + (uint64_t)200 * 3600 * NS_PER_SECOND);
	store_settle(store);
	assert_int_equal(slices_count(store), 1);
}

/* The work of the cheapest of some rounds: later ones may have less to do. */
static uint64_t cost_of(struct grown *grown, void (*ask)(struct grown *grown))
{
	uint64_t least = UINT64_MAX;

	for (grown->round = 0; grown->round < ROUNDS; grown->round++) {
		uint64_t before = work_done(), cost;

		ask(grown);
		cost = work_done() - before;
		if (cost < least && (grown->round == 0 || ask != leap))
			least = cost;
	}
	return least;
}

static void test_grows_no_faster(void **state)
{
	static const struct {
		const char *what;
		void (*ask)(struct grown *grown);
	} questions[] = {
		{ "a table", ask_table }, { "callers", ask_callers }, { "a text", ask_text },
		{ "JSON", ask_json }, { "a folded file", ask_stacks }, { "a fleet's sum", ask_fleet },
		{ "a leap of the clock", leap },
	};
	struct grown small, large;

	(void)state;
	grow(&small, 1);
	grow(&large, TIMES);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		uint64_t little = cost_of(&small, questions[i].ask), much = cost_of(&large, questions[i].ask);

		print_message("%s: %" PRIu64 " units, and %" PRIu64 " of %d times as much\n", questions[i].what,
			little, much, TIMES);
		assert_true(much < MOST * little);
	}
	fixture_end(&small.fixture);
	fixture_end(&large.fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_no_faster),
	};

	return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
