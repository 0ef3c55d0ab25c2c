/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/hand_answers.h"
#include "member.h"

static struct answers *all_of(struct fleet *fleet)
{
	uint64_t now = util_now();

	return answers_new(&fleet_vitals(fleet, now)->answer, &fleet_functions(fleet, now)->answer);
}

static const struct row *find(const struct answers *answers, const char *name, const char *object)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < answers->functions->table->count; i++) {
		const struct row *row = &answers->functions->table->rows[i];
		const struct function *function = symbols_get(answers->functions->answer.symbols, row->function);

		if (strcmp(function->name, name) != 0 || strcmp(function->object, object) != 0)
			continue;
		assert_null(found);
		found = row;
	}
	return found;
}

/* The sum of all rows' self time. */
static uint64_t all_self(const struct answers *answers)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < answers->functions->table->count; i++)
		sum += answers->functions->table->rows[i].self;
	return sum;
}

/* The same weight is more time on a machine with a lower rate. */
static void test_sums_are_exact(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct answers *answers;
	const struct row *row;

	(void)state;
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	member_give(fleet, 1, member_answers(&db, "Linux", 250, 900 * NS_PER_SECOND));
	answers = all_of(fleet);
	assert_int_equal(answers->functions->table->count, HAND_FUNCTIONS);
	row = find(answers, "memcpy", "Linux");
	assert_non_null(row);
	assert_int_equal(row->self, 7340 * NS_PER_MS + 7340 * 4000000ull);
	assert_int_equal(row->total, 7530 * NS_PER_MS + 7530 * 4000000ull);
	assert_int_equal(row->samples, 2 * 7200);
	assert_int_equal(row->cpus[0], 0x6);
	assert_int_equal(all_self(answers), answers->functions->table->weight);
	assert_int_equal(answers->functions->table->weight, 39799 * 5000000ull);
	assert_int_equal(answers->functions->table->mode[MODE_IDLE], 13900 * 5000000ull);
	assert_int_equal(answers->functions->table->to - answers->functions->table->from, 10 * NS_PER_SECOND);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* The baseline of all is as long as the longest of theirs: the use of CPUs in it is weight by time. */
static void test_baseline(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct function_request wanted = answers_function_request();
	struct answers *parts[2] = { member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND),
		member_answers(&db, "Linux", 1000, 900 * NS_PER_SECOND) };
	const struct table_base *base;
	struct answers *answers;

	(void)state;
	wanted.request.excerpt.base.until_ns = 40 * NS_PER_SECOND;
	member_ask(fleet, &wanted);
	for (size_t i = 0; i < 2; i++) {
		struct answers *then = member_answers(i ? &db : &web, "Linux", 1000, (20 + i) * NS_PER_SECOND);

		then->functions->table->from += i * NS_PER_SECOND;
		table_compare(parts[i]->functions->table, then->functions->table);
		answers_free(then);
		member_give(fleet, i, parts[i]);
	}
	answers = all_of(fleet);
	base = answers->functions->table->base;
	assert_non_null(base);
	assert_int_equal(base->weight, answers->functions->table->weight);
	assert_true(base->from < base->to);
	assert_int_equal(base->to - base->from, 10 * NS_PER_SECOND);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

static void test_kernels_are_told_apart(void **state)
{
	struct member web = member_new(), db = member_new(), mail = member_new();
	struct fleet *fleet = fleet_new(member_names, 3, NULL);
	struct answers *answers;

	(void)state;
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	member_give(fleet, 1, member_answers(&db, "demo-kernel", 1000, 60 * NS_PER_SECOND));
	member_give(fleet, 2, member_answers(&mail, "Linux", 1000, 70 * NS_PER_SECOND));
	answers = all_of(fleet);
	assert_int_equal(find(answers, "memcpy", "Linux")->self, 2 * 7340000000ull);
	assert_int_equal(find(answers, "memcpy", "Linux")->cpus[0], 0xa);
	assert_int_equal(find(answers, "memcpy", "demo-kernel")->self, 7340000000ull);
	assert_int_equal(find(answers, "memcpy", "demo-kernel")->cpus[0], 0x4);
	assert_null(find(answers, "memcpy", "kernel"));
	assert_int_equal(find(answers, "[unknown]", "shell")->self, 3 * 9 * NS_PER_SECOND);
	assert_int_equal(find(answers, "[idle]", "")->self, 3 * 13900000000ull);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
	member_free(&mail);
}

/* Each machine has a line with all its CPUs. States and losses are those of all machines. */
static void test_header(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 3, NULL);
	struct answers *one = member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND), *answers;
	struct answers *other = member_answers(&db, "Linux", 500, 50 * NS_PER_SECOND);
	uint64_t kernel = 0;

	(void)state;
	one->vitals->lost_guest = 3;
	other->vitals->lost_guest = 4;
	other->vitals->lost_host = 5;
	strcpy(other->vitals->note, "something ails it");
	for (uint32_t i = 0; i < other->vitals->cpu_count; i++)
		kernel += other->vitals->cpus[i].series.mode[MODE_KERNEL];
	member_give(fleet, 0, one);
	member_give(fleet, 1, other);
	answers = all_of(fleet);
	assert_int_equal(answers->vitals->cpu_count, 3);
	assert_int_equal(answers->vitals->cpus[1].series.mode[MODE_KERNEL], kernel * 2000000);
	assert_int_equal(answers->vitals->cpus[2].series.mode[MODE_KERNEL], 0);
	assert_int_equal(answers->vitals->lost_guest, 7);
	assert_int_equal(answers->vitals->lost_host, 5);
	assert_true(answers->vitals->running);
	assert_int_equal(answers->vitals->link, LINK_UP);
	assert_string_equal(answers->vitals->machines[1].name, "2 db");
	assert_true(answers->vitals->machines[1].known);
	assert_false(answers->vitals->machines[2].known);
	assert_string_equal(answers->vitals->note, "2 db: something ails it");
	answers_free(answers);

	one = member_answers(&web, "Linux", 1000, 51 * NS_PER_SECOND);
	one->vitals->running = false;
	member_give(fleet, 0, one);
	answers = all_of(fleet);
	assert_false(answers->vitals->running);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* The best link of any machine is shown. Only machines whose link is up count as profiled. */
static void test_states_of_many(void **state)
{
	const enum link_state better[] = { LINK_NO_PORT, LINK_LOST, LINK_CONNECTING, LINK_TAKEN,
		LINK_NOT_OPENED, LINK_NO_HELLO, LINK_SILENT, LINK_UP };
	enum { LINKS = sizeof(better) / sizeof(*better) };
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 2, NULL);

	(void)state;
	for (size_t i = 0; i < LINKS * LINKS; i++) {
		enum link_state links[] = { better[i / LINKS], better[i % LINKS] };
		struct answers *one = member_answers(&web, "Linux", 1000, (50 + i) * NS_PER_SECOND), *answers;
		struct answers *other = member_answers(&db, "Linux", 1000, (50 + i) * NS_PER_SECOND);

		one->vitals->link = links[0];
		other->vitals->link = links[1];
		member_give(fleet, 0, one);
		member_give(fleet, 1, other);
		answers = all_of(fleet);
		assert_int_equal(answers->vitals->link, links[i / LINKS < i % LINKS]);
		for (int k = 0; k < 2; k++)
			assert_int_equal(answers->vitals->machines[k].running, links[k] == LINK_UP);
		answers_free(answers);
	}
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* A new rate counts from now on: what was sampled before keeps its time. */
static void test_another_rate_moves_no_past(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct answers *one = member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND), *answers;
	uint64_t weight;

	(void)state;
	one->functions->table->time = one->functions->table->weight * 1000000;
	member_give(fleet, 0, one);
	member_give(fleet, 1, member_answers(&db, "demo-kernel", 1000, 50 * NS_PER_SECOND));
	answers = all_of(fleet);
	weight = answers->functions->table->weight;
	answers_free(answers);

	one = member_answers(&web, "Linux", 100, 51 * NS_PER_SECOND);	/* the rate is 100 now; no sample came since */
	one->functions->table->time = one->functions->table->weight * 1000000;
	member_give(fleet, 0, one);
	answers = all_of(fleet);
	assert_int_equal(answers->functions->table->weight, weight);
	assert_int_equal(find(answers, "memcpy", "Linux")->self,
		find(answers, "memcpy", "demo-kernel")->self);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* For the visible rows, each machine is asked for its own functions, and their trends are added up. */
static void test_visible_rows(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct answers *answers, *before;
	struct function_request wanted = answers_function_request(), asked;
	const struct row *row;

	(void)state;
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	member_give(fleet, 1, member_answers(&db, "Linux", 500, 50 * NS_PER_SECOND));
	before = all_of(fleet);
	row = find(before, "spin_lock", "Linux");
	wanted.request.excerpt.window_ns = 10 * NS_PER_SECOND;
	wanted.request.excerpt.filter = filter_of("cpu:1");
	wanted.visible[0] = wanted.selected = row->function;
	wanted.visible_count = 1;
	member_ask(fleet, &wanted);
	asked = fleet_own_request(fleet, 1, &function_table_kind).functions;
	assert_int_equal(asked.visible_count, 1);
	assert_int_equal(asked.visible[0], db.functions[1]);
	assert_int_equal(asked.request.excerpt.window_ns, 10 * NS_PER_SECOND);
	assert_filter(&asked.request.excerpt.filter, "cpu:1");
	answers = all_of(fleet);
	assert_int_equal(answers->functions->visible_count, 1);
	assert_int_equal(answers->functions->visible[0].trend[6], 200 * 3000000ull);
	assert_string_equal(answers->functions->visible[0].line, "kern/lock.c:18");
	assert_int_equal(answers->functions->machines[0].total, 17450 * NS_PER_MS);
	assert_int_equal(answers->functions->machines[1].total, 17450 * 2000000ull);
	answers_free(before);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/*
 * The same title on two machines: two rows of processes, each with its machine; but one row of an object, though the
 * object is called as a process was, and also the other way round. Tables of rows that are not asked for any more are
 * left out.
 */
static void test_groups_of_machines(void **state)
{
	static const enum group_by turns[] = { GROUP_PROCESS, GROUP_OBJECT, GROUP_PROCESS, GROUP_MODE, GROUP_THREAD };
	struct member web = member_new(), db = member_new();
	struct member *const members[] = { &web, &db };
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct function_request wanted = answers_function_request();
	struct answers *answers;

	(void)state;
	for (size_t turn = 0; turn < sizeof(turns) / sizeof(*turns); turn++) {
		bool of_machine = turns[turn] == GROUP_PROCESS || turns[turn] == GROUP_THREAD;

		wanted.request.excerpt.by = turns[turn];
		member_ask(fleet, &wanted);
		answers = all_of(fleet);
		assert_int_equal(answers->functions->table->count, 0);
		answers_free(answers);
		for (size_t i = 0; i < 2; i++) {
			struct answers *one = member_answers(members[i], "Linux", 1000, 50 * NS_PER_SECOND);

			one->functions->by = turns[turn];
			one->functions->table->rows[0].function = symbols_group(members[i]->symbols, "busybox", "");
			member_give(fleet, i, one);
		}
		answers = all_of(fleet);
		if (of_machine)
			assert_ptr_not_equal(find(answers, "busybox", member_names[0]),
				find(answers, "busybox", member_names[1]));
		else
			assert_int_equal(find(answers, "busybox", "")->cpus[0], 6);
		answers_free(answers);
	}
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* A thread's times by mode, and the function in which it ran most, are told in ns, by the fleet's names. */
static void test_threads_of_machines(void **state)
{
	struct member web = member_new();
	struct fleet *fleet = fleet_new(member_names, 1, NULL);
	struct function_request wanted = answers_function_request();
	struct answers *answers;
	const struct function_row *visible;

	(void)state;
	wanted.request.excerpt.by = GROUP_THREAD;
	wanted.ran = true;
	for (int round = 0; round < 2; round++) {		/* the first tells which rows there are */
		struct answers *one = member_answers(&web, "Linux", 250, 50 * NS_PER_SECOND);
		struct row *row = &one->functions->table->rows[0];

		member_ask(fleet, &wanted);
		assert_true(fleet_own_request(fleet, 0, &function_table_kind).functions.ran);
		one->functions->by = GROUP_THREAD;
		row->function = symbols_group(web.symbols, "worker/7", "busybox");
		row->kernel = 300;
		row->user = 40;
		one->functions->visible[0].function = row->function;
		one->functions->visible[0].ran = (struct caller) { web.functions[1], 200 };
		member_give(fleet, 0, one);
		answers = all_of(fleet);
		row = (struct row *)find(answers, "worker/7", member_names[0]);
		assert_int_equal(row->kernel, 300 * 4000000ull);
		assert_int_equal(row->user, 40 * 4000000ull);
		wanted.visible[0] = row->function;
		wanted.visible_count = 1;
		if (round == 0)
			answers_free(answers);
	}
	visible = &answers->functions->visible[0];
	assert_int_equal(visible->ran.weight, 200 * 4000000ull);
	assert_string_equal(symbols_get(answers->functions->answer.symbols, visible->ran.function)->name, "spin_lock");
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
}

/* Two machines have a thread of one name. Each row tells what its own does; only one machine has the selected one. */
static void test_what_threads_do_now(void **state)
{
	static const char *const does[] = { "on cpu1 3ms", "lock log 51ms, journal/10" };
	struct member members[] = { member_new(), member_new() };
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct function_request wanted = answers_function_request();
	struct answers *answers = NULL;

	(void)state;
	wanted.request.excerpt.by = GROUP_THREAD;
	for (int round = 0; round < 2; round++) {		/* the first tells which rows there are */
		member_ask(fleet, &wanted);
		for (size_t i = 0; i < 2; i++) {
			struct answers *one = member_answers(&members[i], "Linux", 250, 50 * NS_PER_SECOND);
			struct function_table *table = one->functions;

			table->by = GROUP_THREAD;
			table->tells_now = true;
			table->table->rows[0].function = table->visible[0].function = table->selected =
				symbols_group(members[i].symbols, "worker/7", "busybox");
			table->table->rows[0].waits = i * 51 * NS_PER_MS;
			table->time = i ? FUNCTION_THEN : FUNCTION_BEFORE;
			strcpy(table->visible[0].now, does[i]);
			strcpy(table->now, does[i]);
			strcpy(table->next, "journal/10");
			assert_int_equal(fleet_own_request(fleet, i, &function_table_kind).functions.selected,
				round && i ? table->selected : FUNCTION_NONE);
			member_give(fleet, i, one);
		}
		answers_free(answers);
		answers = all_of(fleet);
		for (uint32_t i = 0; i < 2; i++)
			wanted.visible[i] = find(answers, "worker/7", member_names[i])->function;
		wanted.visible_count = 2;
		wanted.selected = wanted.visible[1];
	}
	assert_true(answers->functions->tells_now);
	assert_int_equal(answers->functions->time, FUNCTION_BEFORE);	/* of one, events are still to come */
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(answers->functions->visible[i].now, does[i]);
	assert_string_equal(answers->functions->now, does[1]);
	assert_string_equal(answers->functions->next, "journal/10");
	assert_int_equal(find(answers, "worker/7", "2 db")->waits, 51 * NS_PER_MS);
	assert_int_equal(find(answers, "worker/7", "1 web")->waits, 0);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&members[0]);
	member_free(&members[1]);
}

/* A function's page over two machines: its threads and CPUs are of one machine each, the rest of both. */
static void test_pages_of_machines(void **state)
{
	static const size_t rows[PAGE_TABLES] = {
		[PAGE_THREADS] = 14, [PAGE_CPUS] = 8, [PAGE_MODES] = 3, [PAGE_LINES] = 4,
	};
	static const uint64_t weights[PAGE_TABLES] = {
		[PAGE_THREADS] = 17450, [PAGE_CPUS] = 17450, [PAGE_MODES] = 17450, [PAGE_LINES] = 4400,
	};
	struct member web = member_new(), db = member_new();
	struct member *const members[] = { &web, &db };
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct function_page_request request;
	struct function_page *page;

	(void)state;
	memset(&request, 0, sizeof(request));
	request.request.kind = &function_page_kind;
	request.tree.orders = 1 << TREE_DOWN | 1 << TREE_UP;
	for (size_t i = 0; i < 2; i++) {
		struct answers *one = member_answers(members[i], "Linux", 1000, 50 * NS_PER_SECOND);

		hand_page(one, members[i]->symbols, members[i]->functions);
		request.tree.of = one->page->tree->of;
		fleet_request(fleet, &request.request);
		fleet_take(fleet, i, &one->page->answer, util_now());
		member_give(fleet, i, one);
	}
	assert_true(fleet_is_asked(fleet, &request.request));
	assert_int_equal(fleet_own_request(fleet, 1, &function_page_kind).page.tree.of, request.tree.of);
	page = fleet_page(fleet, util_now());
	assert_int_equal(page->tree->of, request.tree.of);
	assert_int_equal(page->tree->tree->lists[TREE_DOWN].rows[0].total, 2 * 17450 * NS_PER_MS);
	assert_int_equal(page->tree->tree->lists[TREE_UP].count, 4);
	for (int i = 0; i < PAGE_TABLES; i++) {
		assert_int_equal(page->tables[i]->table->count, rows[i]);
		assert_int_equal(page->tables[i]->table->weight, 2 * weights[i] * NS_PER_MS);
	}
	answer_free((struct answer *)page);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* The functions of a new boot have other ids, and are found again by their names. */
static void test_new_boot(void **state)
{
	static const char *const list[] = { "other", "memcpy" };
	struct member web = member_new();
	struct fleet *fleet = fleet_new(member_names, 1, NULL);
	struct answers *answers, *next;
	struct symbols *symbols;
	uint32_t functions[2], id;

	(void)state;
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	answers = all_of(fleet);
	id = find(answers, "memcpy", "Linux")->function;
	symbols = hand_kernel(list, 2, functions);
	next = member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND);
	hand_rows(next, symbols, functions, 2);
	member_give(fleet, 0, next);
	answers_free(answers);
	answers = all_of(fleet);
	assert_int_equal(answers->functions->table->count, 2);
	assert_int_equal(find(answers, "memcpy", "Linux")->function, id);
	assert_int_equal(find(answers, "memcpy", "Linux")->self, 5000 * NS_PER_MS);
	answers_free(answers);
	fleet_free(fleet);
	member_free(&web);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_kernels_are_told_apart),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_states_of_many),
		cmocka_unit_test(test_another_rate_moves_no_past),
		cmocka_unit_test(test_visible_rows),
		cmocka_unit_test(test_groups_of_machines),
		cmocka_unit_test(test_threads_of_machines),
		cmocka_unit_test(test_what_threads_do_now),
		cmocka_unit_test(test_pages_of_machines),
		cmocka_unit_test(test_new_boot),
	};

	member_begin_at_midnight();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
