/* SPDX-License-Identifier: MIT */
/* The timeline over all machines: whose rows, on which axis, what each machine is asked, and the moment of a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/timeline.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/fleet/fleet.h"

enum { MACHINES = 3, ROWS = 2, COLUMNS = 50, NAMES = 2, THREADS = 2, WINDOW_S = 10 };
#define EACH (WINDOW_S * NS_PER_SECOND / COLUMNS)

static const char *const names[MACHINES] = { "1 web", "2 db", "3 mail" };
static const uint64_t clocks[MACHINES] = { 100 * NS_PER_SECOND, 900 * NS_PER_SECOND, 50 * NS_PER_SECOND };

/* A machine's answer, whose arrays are inside it: it has no epoch. */
struct part {
	struct timeline timeline;
	struct timeline_row rows[ROWS];
	struct timeline_cell cells[ROWS * COLUMNS];
	struct timeline_thread threads[THREADS];
	char names[NAMES][TIMELINE_CALLED];
};

/* CPU 0 and thread 4, which runs on it in the column `busy`, in a call. Its range ends `ago` before the clock. */
static struct part *new_part(size_t machine, uint64_t ago, uint32_t busy)
{
	struct part *part = util_alloc(sizeof(*part));
	uint64_t to = clocks[machine] - ago;

	part->timeline = (struct timeline) { .answer = { .kind = &timeline_kind }, .now = clocks[machine], .to = to,
		.from = to - COLUMNS * EACH, .each = EACH, .columns = COLUMNS, .traced = true, .count = ROWS,
		.rows = part->rows, .cells = part->cells, .thread_count = 1, .threads = part->threads,
		.name_count = NAMES, .names = part->names, .moment = { .of = EVENT_NONE } };
	part->rows[0] = (struct timeline_row) { .is_cpu = true, .cells = part->cells };
	part->rows[1] = (struct timeline_row) { .number = 4, .cells = part->cells + COLUMNS };
	part->cells[busy] = (struct timeline_cell) { TIMELINE_RUN, 0, 4 };
	part->cells[COLUMNS + busy] = (struct timeline_cell) { TIMELINE_RUN, 1, 0 };
	part->threads[0].thread = 4;
	util_print(part->threads[0].title, TIMELINE_TITLE, "%s/4", names[machine] + 2);
	util_print(part->names[1], TIMELINE_CALLED, "call of %s", names[machine] + 2);
	return part;
}

static void give_clock(struct fleet *fleet, size_t machine, uint64_t clock)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	vitals->answer.kind = &vitals_kind;
	vitals->now = clock;
	fleet_take(fleet, machine, &vitals->answer, util_now());
}

static void give(struct fleet *fleet, size_t machine, struct part *part)
{
	fleet_take(fleet, machine, &part->timeline.answer, util_now());
}

static struct timeline_request request_of(uint64_t window_ns)
{
	struct timeline_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &timeline_kind;
	request.request.excerpt.window_ns = window_ns;
	request.columns = COLUMNS;
	request.focus = request.of = EVENT_NONE;
	return request;
}

static void ask(struct fleet *fleet, const struct timeline_request *request)
{
	fleet_request(fleet, &request->request);
	assert_true(fleet_is_asked(fleet, &request->request));
}

static struct timeline_request own_of(const struct fleet *fleet, size_t machine)
{
	return fleet_own_request(fleet, machine, &timeline_kind).timeline;
}

static struct timeline *all_of(struct fleet *fleet)
{
	return (struct timeline *)fleet_answer(fleet, &timeline_kind, util_now());
}

static struct fleet *new_fleet(struct budget *budget)
{
	struct fleet *fleet = fleet_new(names, MACHINES, budget);
	const struct timeline_request request = request_of(WINDOW_S * NS_PER_SECOND);

	for (size_t i = 0; i < MACHINES; i++)
		give_clock(fleet, i, clocks[i]);
	ask(fleet, &request);
	return fleet;
}

/* ---- rows ---- */

/* What was at one time on two machines is in one column, and each row has the names of its machine. */
static void rows_of_all_on_one_axis(void **state)
{
	struct fleet *fleet = new_fleet(NULL);
	struct timeline *all = all_of(fleet);

	(void)state;
	assert_int_equal(all->now, 0);			/* nobody has told of itself */
	assert_int_equal(all->count, 0);
	answer_free(&all->answer);
	give(fleet, 0, new_part(0, 0, 20));
	give(fleet, 1, new_part(1, 3 * EACH, 23));
	all = all_of(fleet);
	assert_int_equal(all->now, all->to);
	assert_int_equal(all->to - all->from, WINDOW_S * NS_PER_SECOND);
	assert_int_equal(all->each, EACH);
	assert_int_equal(all->columns, COLUMNS);
	assert_int_equal(all->count, 2 * ROWS);
	for (uint32_t i = 0; i < all->count; i++) {
		const struct timeline_row *row = &all->rows[i];
		bool web = i < ROWS;

		assert_int_equal(row->machine, web ? 0 : 1);
		assert_int_equal(row->is_cpu, i % ROWS == 0);
		for (uint32_t column = 0; column < COLUMNS; column++)
			assert_int_equal(row->cells[column].state,
				column == 20 ? TIMELINE_RUN : TIMELINE_UNKNOWN);
		if (row->is_cpu)
			assert_string_equal(timeline_title(all, row->machine, row->cells[20].who),
				web ? "web/4" : "db/4");
		else
			assert_string_equal(all->names[row->cells[20].name], web ? "call of web" : "call of db");
	}
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* An answer to an earlier width is of no use, and a machine that has booted anew is in no window. */
static void what_is_of_another_range_is_left_out(void **state)
{
	struct fleet *fleet = new_fleet(NULL);
	struct timeline_request request = request_of(WINDOW_S * NS_PER_SECOND);
	struct part *wide = new_part(1, 0, 20);
	struct timeline *all;

	(void)state;
	wide->timeline.each *= 2;
	give(fleet, 0, new_part(0, 0, 20));
	give(fleet, 1, wide);
	give(fleet, 2, new_part(2, 0, 20));
	all = all_of(fleet);
	assert_int_equal(all->count, 2 * ROWS);
	request.request.excerpt.until_ns = all->to;
	answer_free(&all->answer);
	ask(fleet, &request);
	give_clock(fleet, 2, NS_PER_SECOND);
	all = all_of(fleet);
	assert_int_equal(all->count, ROWS);
	assert_int_equal(all->rows[0].machine, 0);
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* A machine of which much is kept, and one that is young: columns of all there is are as wide as the widest needs. */
static void all_there_is_has_columns_of_one_width(void **state)
{
	struct fleet *fleet = new_fleet(NULL);
	struct timeline_request request = request_of(0);
	struct part *old = new_part(1, 0, 20);

	(void)state;
	ask(fleet, &request);
	assert_int_equal(own_of(fleet, 0).each, 0);	/* nothing is known yet */
	old->timeline.from = old->timeline.to - 80 * WINDOW_S * NS_PER_SECOND;
	old->timeline.each *= 80;
	give(fleet, 0, new_part(0, 0, 20));
	give(fleet, 1, old);
	for (size_t i = 0; i < MACHINES; i++)
		assert_in_range(own_of(fleet, i).each, 80 * EACH, 90 * EACH);
	old = new_part(1, 0, 20);				/* a bit later */
	old->timeline.from = old->timeline.to - 80 * WINDOW_S * NS_PER_SECOND - NS_PER_MS;
	old->timeline.each = own_of(fleet, 1).each;
	old->timeline.columns = COLUMNS - 5;
	request.each = own_of(fleet, 1).each;
	give(fleet, 1, old);
	assert_int_equal(own_of(fleet, 0).each, request.each);
	fleet_free(fleet);
}

/* ---- what is asked ---- */

/* Rows share the room. The moment and the focus are asked of their machine alone, in its own time. */
static void each_is_asked_its_own(void **state)
{
	struct fleet *fleet = new_fleet(NULL);
	struct timeline_request request = request_of(WINDOW_S * NS_PER_SECOND);
	struct timeline *all;

	(void)state;
	for (size_t i = 0; i < MACHINES; i++)
		give(fleet, i, new_part(i, 0, 20));
	all = all_of(fleet);
	request.rows = 17;
	request.of = request.focus = 4;
	request.machine = request.focus_machine = 1;
	request.at = all->to - 12345;
	for (int moved = 0; moved < 2; moved++) {
		request.request.excerpt.until_ns = moved ? all->to : 0;
		request.request.excerpt.moved = moved;
		request.request.excerpt.back_ns = moved ? 7 : 0;
		ask(fleet, &request);
		for (size_t i = 0; i < MACHINES; i++) {
			const struct timeline_request own = own_of(fleet, i);

			assert_int_equal(own.rows, 5);
			assert_int_equal(own.each, EACH);
			assert_int_equal(own.of_cpu, 0);
			assert_int_equal(own.of, i == 1 ? 4 : EVENT_NONE);
			assert_int_equal(own.focus, i == 1 ? 4 : EVENT_NONE);
			assert_int_equal(own.at, i == 1 ? clocks[i] - 12345 : 0);
			assert_int_equal(own.machine + own.focus_machine, 0);
			assert_int_equal(own.request.excerpt.until_ns, moved ? clocks[i] : 0);
			assert_int_equal(own.request.excerpt.back_ns, moved ? 7 : 0);
		}
	}
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* ---- the moment ---- */

static struct part *part_at(size_t machine, uint64_t time)
{
	struct part *part = new_part(machine, 0, 20);
	struct timeline_span span = { .kind = SPAN_CALL, .name = 1, .thread = 4, .begin = time - 100,
		.end = time + 100 };

	part->timeline.moment = (struct timeline_moment) { .of = 4, .time = time, .is_known = true, .is_inside = true,
		.waits = true, .holds = 1, .now = span, .inside = span, .lock = span, .hold = span, .wake = span,
		.woken = true, .before = time - 100, .after = 0 };
	return part;
}

/* It is that of the row's machine, by the fleet's clock; an answer about another time is not yet it. */
static void the_moment_of_a_row(void **state)
{
	static const struct { int64_t at, told; bool known, comes; } rows[] = {
		{ 12345, 12345, true, true }, { 12345, 777, true, false }, { 0, 1, true, true },
		{ 20 * NS_PER_SECOND, WINDOW_S * NS_PER_SECOND, false, true },	/* before the range */
	};
	struct fleet *fleet = new_fleet(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct timeline_request request = request_of(WINDOW_S * NS_PER_SECOND);
		const struct timeline_moment *moment;
		uint64_t told = clocks[1] - (uint64_t)rows[i].told, at;
		struct timeline *all;

		request.of = 4;
		request.machine = 1;
		give(fleet, 0, part_at(0, clocks[0] - 5));
		give(fleet, 1, part_at(1, told));
		all = all_of(fleet);
		at = all->to - (uint64_t)rows[i].at;
		request.at = rows[i].at ? at : 0;
		ask(fleet, &request);
		answer_free(&all->answer);
		all = all_of(fleet);
		moment = &all->moment;
		assert_int_equal(moment->machine, 1);
		assert_int_equal(moment->of, 4);
		if (!rows[i].at)
			assert_int_equal(moment->time, all->to - 1);
		else
			assert_int_equal(moment->time, !rows[i].comes ? 0 : at < all->from ? all->from : at);
		assert_int_equal(moment->is_known && moment->is_inside && moment->waits && moment->holds,
			rows[i].known);
		assert_int_equal(moment->woken != 0, rows[i].known);
		if (rows[i].known) {
			assert_string_equal(all->names[moment->inside.name], "call of db");
			assert_int_equal(all->to - moment->wake.begin, (uint64_t)rows[i].told + 100);
			assert_int_equal(moment->wake.end - moment->wake.begin, 200);
			assert_int_equal(moment->before, moment->now.begin);
			assert_int_equal(moment->after, 0);
		}
		answer_free(&all->answer);
	}
	fleet_free(fleet);
}

/* ---- what is told of all ---- */

static void books(void **state)
{
	struct fleet *fleet = new_fleet(NULL);
	struct part *web = new_part(0, 0, 20), *db = new_part(1, 0, 20), *mail = new_part(2, 0, 20);
	struct timeline *all;

	(void)state;
	web->timeline.lost = 1;
	web->timeline.kept_from = clocks[0] - 7;
	web->timeline.answer.partial = true;
	db->timeline.lost = 2;
	db->timeline.unmatched = 3;
	db->timeline.exact_from = clocks[1] - 9;
	db->timeline.stateless = 1;
	db->timeline.threads_more = 4;
	mail->timeline.traced = false;
	mail->timeline.stateless = 1;
	mail->timeline.count = 0;
	mail->timeline.cpus_more = 5;
	give(fleet, 0, web);
	give(fleet, 1, db);
	give(fleet, 2, mail);
	all = all_of(fleet);
	assert_int_equal(all->lost, 3);
	assert_int_equal(all->unmatched, 3);
	assert_int_equal(all->threads_more, 4);
	assert_int_equal(all->cpus_more, 5);
	assert_int_equal(all->to - all->kept_from, 7);
	assert_int_equal(all->to - all->exact_from, 9);
	assert_true(all->traced && all->answer.partial);
	assert_int_equal(all->untraced, 4);
	assert_int_equal(all->stateless, 2);		/* one that has no rows has none without states */
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* Without memory there are no rows, and that is said. */
static void the_budget_refuses(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct fleet *fleet = new_fleet(budget);
	uint32_t count = 0, tries = 0;
	size_t left;

	(void)state;
	give(fleet, 0, new_part(0, 0, 20));
	left = budget_left(budget);
	for (size_t spare = 0; !count; spare += 16, tries++) {	/* it refuses each of the arrays in turn */
		struct timeline *all;

		assert_true(budget_take(budget, left - spare));
		all = all_of(fleet);
		count = all->count;
		assert_int_equal(all->refused, !count);
		assert_int_equal(count, count ? ROWS : 0);
		assert_true(count || (!all->cells && !all->threads && !all->names && !all->name_count));
		answer_free(&all->answer);
		budget_give(budget, left - spare);
		assert_int_equal(budget_left(budget), left);
	}
	assert_true(tries > 10);
	fleet_free(fleet);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_all_on_one_axis),
		cmocka_unit_test(what_is_of_another_range_is_left_out),
		cmocka_unit_test(all_there_is_has_columns_of_one_width),
		cmocka_unit_test(each_is_asked_its_own),
		cmocka_unit_test(the_moment_of_a_row),
		cmocka_unit_test(books),
		cmocka_unit_test(the_budget_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
