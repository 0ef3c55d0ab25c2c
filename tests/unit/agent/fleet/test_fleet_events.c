/* SPDX-License-Identifier: MIT */
/* Events over all machines: which rows are one, their sums and percentiles, and whose the slowest are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/event_table.h"
#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/trace/latencies.h"

enum { MACHINES = 3, ROWS = 8, PAGES = 16, SLOW = 2 };

static const char *const names[MACHINES] = { "1 web", "2 db", "3 mail" };

/* A machine's answer, whose arrays are inside it: it has no epoch. */
struct part {
	struct event_table table;
	struct event_row rows[ROWS];
	struct event_latencies latencies[ROWS];
	struct latency_page pages[PAGES];
	struct slow_row slow[SLOW];
};

static struct part *new_part(enum event_by by)
{
	struct part *part = util_alloc(sizeof(*part));

	part->table = (struct event_table) { .answer = { .kind = &event_table_kind }, .now = 100 * NS_PER_SECOND,
		.from = 90 * NS_PER_SECOND, .to = 100 * NS_PER_SECOND, .by = by, .traced = true, .open_known = true,
		.rows = part->rows, .latencies = part->latencies,
		.pages = { .list = part->pages, .room = PAGES }, .slow = part->slow };
	return part;
}

static struct event_row *add_row(struct part *part, enum span_kind kind, uint64_t number, const char *called)
{
	struct event_row *row = &part->rows[part->table.count++];

	*row = (struct event_row) { .kind = kind, .number = number, .part = SLOW_ALL,
		.latencies = part->table.count - 1, .longest_of = EVENT_NONE };
	util_print(row->called, sizeof(row->called), "%s", called);
	return row;
}

/* `count` spans that took `ns` each, of the row that was added last. */
static void add_spans(struct part *part, uint32_t count, uint64_t ns)
{
	uint32_t number = part->table.count - 1;
	struct event_row *row = &part->rows[number];

	row->count += count;
	row->total += count * ns;
	row->max = ns > row->max ? ns : row->max;
	row->bars[latencies_log(ns)] += count;
	row->trend[EVENT_TREND - 1] += count;
	row->over[0] += count;
	assert_true(part->table.pages.count < PAGES);
	latencies_add(&part->latencies[number].now, &part->table.pages, ns, count);
}

static void give_kernel(struct fleet *fleet, size_t machine, const char *kernel)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	vitals->answer.kind = &vitals_kind;
	vitals->now = 100 * NS_PER_SECOND;
	strcpy(vitals->kernel, kernel);
	fleet_take(fleet, machine, &vitals->answer, util_now());
}

static struct event_request ask(struct fleet *fleet, enum event_by by, const struct event_row *slow)
{
	struct event_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &event_table_kind;
	request.by = by;
	if (slow) {
		request.slow = 1;
		request.slow_kind = slow->kind;
		request.slow_numbers[0] = slow->number;
		request.slow_part = slow->part;
	}
	fleet_request(fleet, &request.request);
	assert_true(fleet_is_asked(fleet, &request.request));
	return request;
}

static struct fleet *new_fleet(enum event_by by)
{
	struct fleet *fleet = fleet_new(names, MACHINES, NULL);

	for (size_t i = 0; i < MACHINES; i++)
		give_kernel(fleet, i, "Linux");
	ask(fleet, by, NULL);
	return fleet;
}

static struct event_table *all_of(struct fleet *fleet)
{
	return (struct event_table *)fleet_answer(fleet, &event_table_kind, util_now());
}

/* Its row of this text; NULL: there is none. No two rows have the same text. */
static const struct event_row *find(const struct event_table *table, const char *wanted)
{
	const struct event_row *found = NULL;
	char text[EVENT_TEXT];

	for (uint32_t i = 0; i < table->count; i++) {
		if (strcmp(event_row_text(&table->rows[i], table->by, text), wanted) != 0)
			continue;
		assert_null(found);
		found = &table->rows[i];
	}
	return found;
}

/* ---- which rows are one ---- */

/* Numbers of one call may differ. The percentiles are those of all spans together, not of the machines' percentiles. */
static void rows_with_the_same_name_are_one(void **state)
{
	struct part *web = new_part(EVENT_BY_NAME), *db = new_part(EVENT_BY_NAME);
	struct fleet *fleet = new_fleet(EVENT_BY_NAME);
	const struct event_row *row;
	struct event_table *all;

	(void)state;
	add_row(web, SPAN_CALL, 0, "read")->lost = 3;
	add_spans(web, 90, 1000);
	add_row(web, SPAN_SLEEP, SLEEP_BLOCKED, "");
	add_spans(web, 1, 7000);
	add_row(db, SPAN_SLEEP, SLEEP_BLOCKED, "");
	add_spans(db, 2, 8000);
	add_row(db, SPAN_CALL, 63, "read")->open = 2;
	add_spans(db, 9, 1000);
	add_spans(db, 1, 5 * NS_PER_MS);
	db->rows[1].oldest_ns = 77;
	db->rows[1].longest = 98 * NS_PER_SECOND;
	db->rows[1].longest_of = 4;
	db->rows[1].longest_on = 2;
	db->rows[1].oldest = 97 * NS_PER_SECOND;
	db->rows[1].oldest_of = 5;
	db->rows[1].was = (struct event_sums) { .count = 5, .total = 50, .max = 20 };
	fleet_take(fleet, 0, &web->table.answer, util_now());
	fleet_take(fleet, 1, &db->table.answer, util_now());
	all = all_of(fleet);
	assert_int_equal(all->count, 2);
	row = find(all, "syscall read");
	assert_non_null(row);
	assert_int_equal(row->count, 100);
	assert_int_equal(row->lost, 3);
	assert_int_equal(row->total, 99 * 1000 + 5 * NS_PER_MS);
	assert_int_equal(row->max, 5 * NS_PER_MS);
	assert_int_equal(row->open, 2);
	assert_int_equal(row->oldest_ns, 77);
	assert_int_equal(row->longest_in, 1);		/* T leads there */
	assert_int_equal(row->longest_of, 4);
	assert_int_equal(row->longest_on, 2);
	assert_int_equal(all->to - row->longest, 2 * NS_PER_SECOND);
	assert_int_equal(row->oldest_in, 1);
	assert_int_equal(row->oldest_of, 5);
	assert_int_equal(all->to - row->oldest, 3 * NS_PER_SECOND);
	assert_int_equal(row->was.count, 5);
	assert_int_equal(row->trend[EVENT_TREND - 1], 100);
	assert_int_equal(row->over[0], 100);
	assert_int_equal(row->bars[latencies_log(1000)], 99);
	assert_in_range(row->p50, 970, 1030);
	assert_in_range(row->p99, 970, 1030);
	assert_int_equal(all->shares[row->shares].count, 90);
	assert_int_equal(all->shares[row->shares + 1].count, 10);
	assert_int_equal(all->shares[row->shares + 2].count, 0);
	assert_int_equal(find(all, "blocked")->count, 3);
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* What has no name is of one kernel, and such a lock of one machine. */
static void numbers_without_a_name(void **state)
{
	static const struct { const char *kernel, *call; } rows[] = {
		{ "Linux", "syscall 39" }, { "demo", "1 web: syscall 39" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fleet *fleet = new_fleet(EVENT_BY_NAME);
		struct event_table *all;

		for (size_t machine = 0; machine < 2; machine++) {
			struct part *part = new_part(EVENT_BY_NAME);

			add_row(part, SPAN_CALL, 39, "");
			add_spans(part, 1, 10);
			add_row(part, SPAN_LOCK, 7, "");
			add_spans(part, 1, 10);
			add_row(part, SPAN_LOCK, 8 + machine, "inode");
			add_spans(part, 1, 10);
			add_row(part, SPAN_PAIR, SPAN_NUMBER(64, UINT32_MAX), "disk");
			add_spans(part, 1, 10);
			give_kernel(fleet, machine, machine ? rows[i].kernel : "Linux");
			fleet_take(fleet, machine, &part->table.answer, util_now());
		}
		all = all_of(fleet);
		assert_int_equal(all->count, i ? 6 : 5);
		assert_non_null(find(all, rows[i].call));
		assert_int_equal(find(all, "1 web: lock 7")->count, 1);
		assert_int_equal(find(all, "2 db: lock 7")->count, 1);
		assert_int_equal(find(all, "lock inode")->count, 2);
		assert_int_equal(find(all, "disk")->count, 2);
		answer_free(&all->answer);
		fleet_free(fleet);
	}
}

/* What kernels there are is known before their rows come: none of them is renamed then. */
static void a_name_does_not_change(void **state)
{
	struct fleet *fleet = new_fleet(EVENT_BY_NAME);
	struct part *part = new_part(EVENT_BY_NAME);
	struct event_table *all;

	(void)state;
	add_row(part, SPAN_CALL, 39, "");
	add_spans(part, 1, 10);
	fleet_take(fleet, 0, &part->table.answer, util_now());
	give_kernel(fleet, 1, "demo");
	all = all_of(fleet);
	assert_non_null(find(all, "1 web: syscall 39"));
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* Threads and CPUs are of a machine; an interrupt of no thread is not, and a place in the code is of a kernel. */
static void parts_are_of_their_machine(void **state)
{
	static const struct { enum event_by by; const char *title, *kernel, *text; uint32_t count; } rows[] = {
		{ EVENT_BY_THREAD, "main/4", "Linux", "2 db main/4: syscall read", 3 },
		{ EVENT_BY_CPU, "cpu 1", "Linux", "2 db cpu 1: syscall read", 3 },
		{ EVENT_BY_CODE, "a < b", "Linux", "syscall read < a < b", 2 },
		{ EVENT_BY_CODE, "a < b", "demo", "syscall read < (2 db) a < b", 3 },
		{ EVENT_BY_CODE, "a < [unknown]", "Linux", "syscall read < (2 db) a < [unknown]", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fleet *fleet = new_fleet(rows[i].by);
		struct event_table *all;

		for (size_t machine = 0; machine < 2; machine++) {
			struct part *part = new_part(rows[i].by);
			struct event_row *row = add_row(part, SPAN_CALL, 0, "read");

			row->part = 4;
			strcpy(row->title, rows[i].title);
			add_spans(part, 1, 10);
			add_row(part, SPAN_INTERRUPT, 4, "timer")->part = EVENT_NO_PART;
			add_spans(part, 1, 10);
			give_kernel(fleet, machine, machine ? rows[i].kernel : "Linux");
			fleet_take(fleet, machine, &part->table.answer, util_now());
		}
		all = all_of(fleet);
		assert_int_equal(all->count, rows[i].count);
		assert_non_null(find(all, rows[i].text));
		assert_int_equal(find(all, "irq timer")->count, 2);
		assert_int_equal(find(all, "irq timer")->part, EVENT_NO_PART);
		answer_free(&all->answer);
		fleet_free(fleet);
	}
}

/* What a row is known by is of no other: a wait's number is the same for all threads of all machines. */
static void each_part_is_its_own(void **state)
{
	struct fleet *fleet = new_fleet(EVENT_BY_THREAD);
	struct event_table *all;

	(void)state;
	for (size_t machine = 0; machine < MACHINES; machine++) {
		struct part *part = new_part(EVENT_BY_THREAD);

		for (uint64_t thread = 1; thread <= ROWS; thread++) {
			struct event_row *row = add_row(part, SPAN_SLEEP, SLEEP_BLOCKED, "");

			row->part = thread;
			util_print(row->title, sizeof(row->title), "main/%d", (int)thread);
			add_spans(part, 1, 10);
		}
		fleet_take(fleet, machine, &part->table.answer, util_now());
	}
	all = all_of(fleet);
	assert_int_equal(all->count, MACHINES * ROWS);
	for (uint32_t i = 0; i < all->count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_true(all->rows[i].part != all->rows[k].part);
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* ---- what is told of all ---- */

/* Losses add up, times are by the fleet's clock, and what is about other rows does not count. */
static void books_and_ranges(void **state)
{
	struct fleet *fleet = new_fleet(EVENT_BY_NAME);
	struct part *web = new_part(EVENT_BY_NAME), *db = new_part(EVENT_BY_NAME), *mail = new_part(EVENT_BY_CPU);
	struct event_table *all = all_of(fleet);

	(void)state;
	assert_int_equal(all->now, 0);			/* nobody has told of itself */
	answer_free(&all->answer);
	add_row(db, SPAN_CALL, 0, "read");
	add_spans(db, 7, 10);
	web->table.lost = 2;
	web->table.from = 0;				/* 100 s: all since its boot */
	web->table.exact_from = 95 * NS_PER_SECOND;
	strcpy(web->table.filters, "irq:min=1ms");
	db->table.lost = 3;
	db->table.traced = db->table.open_known = false;
	db->table.compared = true;
	db->table.base_from = 20 * NS_PER_SECOND;
	db->table.base_to = 50 * NS_PER_SECOND;
	strcpy(db->table.filters, "call:min=1ms");
	mail->table.lost = 100;
	fleet_take(fleet, 0, &web->table.answer, util_now());
	fleet_take(fleet, 1, &db->table.answer, util_now());
	fleet_take(fleet, 2, &mail->table.answer, util_now());
	all = all_of(fleet);
	assert_int_equal(all->lost, 5);
	assert_int_equal(all->to - all->from, 100 * NS_PER_SECOND);
	assert_int_equal(all->to - all->exact_from, 5 * NS_PER_SECOND);
	assert_int_equal(all->base_to - all->base_from, 30 * NS_PER_SECOND);
	assert_int_equal(all->to - all->base_to, 50 * NS_PER_SECOND);
	assert_true(all->compared && all->traced && !all->open_known);
	assert_int_equal(all->untraced, 2);
	assert_int_equal(all->uncompared, 1);
	assert_int_equal(all->rows[0].over[EVENT_OVER - EVENT_OVER / 10], 7);	/* the last 10 s of these */
	assert_string_equal(all->filters, "1 web: irq:min=1ms; 2 db: call:min=1ms");
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* The range of a window that is past lies on the axis of all other times. */
static void a_window_in_the_past(void **state)
{
	struct fleet *fleet = new_fleet(EVENT_BY_NAME);
	struct part *web = new_part(EVENT_BY_NAME);
	struct event_table *all;

	(void)state;
	web->table.from = 10 * NS_PER_SECOND;
	web->table.to = 20 * NS_PER_SECOND;
	web->table.exact_from = 95 * NS_PER_SECOND;
	fleet_take(fleet, 0, &web->table.answer, util_now());
	all = all_of(fleet);
	assert_int_equal(all->to - all->from, 10 * NS_PER_SECOND);
	assert_int_equal(all->exact_from - all->to, 75 * NS_PER_SECOND);
	answer_free(&all->answer);
	fleet_free(fleet);
}

/* ---- the slowest ---- */

/* Each machine is asked by its own number. The page waits for all that have the row, and says whose a span is. */
static void the_slowest_of_a_row(void **state)
{
	struct fleet *fleet = new_fleet(EVENT_BY_NAME);
	struct event_table *all;

	(void)state;
	for (int told = 0; told < 2; told++)
		for (size_t machine = 0; machine < MACHINES; machine++) {
			struct part *part = new_part(EVENT_BY_NAME);
			const union fleet_request own = fleet_own_request(fleet, machine, &event_table_kind);

			add_row(part, SPAN_CALL, machine, machine == 2 ? "write" : "read");
			add_spans(part, 1, 10);
			part->table.slow_told = told && machine != 2;
			part->table.slow_of = (struct slow_of) { SPAN_CALL, machine, SLOW_ALL };
			part->table.slow_count = part->table.slow_told;
			part->slow[0] = (struct slow_row) { .of = part->table.slow_of,
				.begin = 99 * NS_PER_SECOND, .end = 99 * NS_PER_SECOND + 100 * (machine + 1), };
			strcpy(part->slow[0].title, "main/4");
			assert_int_equal(own.events.slow, told && machine != 2);
			assert_int_equal(own.events.slow_numbers[0], told && machine != 2 ? machine : 0);
			fleet_take(fleet, machine, &part->table.answer, util_now());
			all = all_of(fleet);
			assert_int_equal(all->slow_told, told && machine);	/* not while one is asked yet */
			if (!told && machine == 2)
				ask(fleet, EVENT_BY_NAME, find(all, "syscall read"));
			if (told && machine == 2) {
				assert_int_equal(all->slow_count, 2);
				assert_string_equal(all->slow[0].title, "2 db main/4");
				assert_int_equal(all->slow[0].end - all->slow[0].begin, 200);
				assert_int_equal(all->to - all->slow[0].begin, NS_PER_SECOND);
				assert_string_equal(all->slow[1].title, "1 web main/4");
				assert_int_equal(all->slow_of.number, find(all, "syscall read")->number);
			}
			answer_free(&all->answer);
		}
	fleet_free(fleet);
}

/* A machine may have several numbers of one name, as of locks: the slowest are those of all of them. */
static void the_slowest_of_several_numbers(void **state)
{
	enum { LOCKS = SLOW_NAMES + 3 };
	struct fleet *fleet = new_fleet(EVENT_BY_NAME);
	struct event_table *all;
	struct event_request own;
	struct event_row *rows = util_alloc(LOCKS * sizeof(*rows));
	struct part *part;

	(void)state;
	for (int told = 0; told < 2; told++) {
		part = new_part(EVENT_BY_NAME);
		for (int i = 0; i < 3; i++) {
			add_row(part, SPAN_LOCK, 7 + (uint64_t)i, i == 1 ? "dentry" : "inode");
			add_spans(part, 3 - (uint32_t)i, 10);
		}
		part->table.slow_told = told;
		part->table.slow_of = (struct slow_of) { SPAN_LOCK, 9, SLOW_ALL };
		part->table.slow_count = told ? 2 : 0;
		part->slow[0] = (struct slow_row) { .of = { SPAN_LOCK, 7, SLOW_ALL }, .begin = 1, .end = 5 };
		part->slow[1] = (struct slow_row) { .of = { SPAN_LOCK, 9, SLOW_ALL }, .begin = 1, .end = 7 };
		fleet_take(fleet, 0, &part->table.answer, util_now());
		all = all_of(fleet);
		if (!told)
			ask(fleet, EVENT_BY_NAME, find(all, "lock inode"));
		own = fleet_own_request(fleet, 0, &event_table_kind).events;
		assert_int_equal(own.slow, 2);
		assert_int_equal(own.slow_kind, SPAN_LOCK);
		assert_int_equal(own.slow_numbers[0], 7);
		assert_int_equal(own.slow_numbers[1], 9);
		assert_int_equal(fleet_own_request(fleet, 1, &event_table_kind).events.slow, 0);
		assert_int_equal(all->slow_count, told ? 2 : 0);
		assert_true(!told || (all->slow_told && all->slow[0].end - all->slow[0].begin == 6));
		assert_int_equal(all->slow_more, 0);
		answer_free(&all->answer);
	}
	part = new_part(EVENT_BY_NAME);			/* more than a question has room for */
	part->table.rows = rows;
	part->table.count = LOCKS;
	for (uint64_t i = 0; i < LOCKS; i++) {
		rows[i] = (struct event_row) { .kind = SPAN_LOCK, .number = i, .part = SLOW_ALL, .count = 1 };
		strcpy(rows[i].called, "inode");
	}
	fleet_take(fleet, 0, &part->table.answer, util_now());
	assert_int_equal(fleet_own_request(fleet, 0, &event_table_kind).events.slow, SLOW_NAMES);
	all = all_of(fleet);
	assert_int_equal(all->slow_more, 3);
	answer_free(&all->answer);
	fleet_free(fleet);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_with_the_same_name_are_one),
		cmocka_unit_test(numbers_without_a_name),
		cmocka_unit_test(a_name_does_not_change),
		cmocka_unit_test(parts_are_of_their_machine),
		cmocka_unit_test(each_part_is_its_own),
		cmocka_unit_test(books_and_ranges),
		cmocka_unit_test(a_window_in_the_past),
		cmocka_unit_test(the_slowest_of_a_row),
		cmocka_unit_test(the_slowest_of_several_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
