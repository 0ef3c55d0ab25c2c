/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/hand_picture.h"
#include "tests/unit/fakes/picture.h"

enum { MACHINES = 3 };

static const uint64_t second = 1000000000;
static const char *const names[MACHINES] = { "1 web", "2 db", "3 mail" };

/* A machine with functions of its own, and the answers that its session would make. */
struct world {
	struct symbols *symbols;
	uint32_t functions[HAND_FUNCTIONS];
};

static struct world new_world(void)
{
	struct world world;

	world.symbols = hand_symbols(world.functions);
	return world;
}

static void take(struct fleet *fleet, size_t machine, struct picture *picture)
{
	fleet_take(fleet, machine, &picture->vitals->answer);
	fleet_take(fleet, machine, &picture->functions->answer);
	free(picture);
}

static struct picture *all_of(struct fleet *fleet)
{
	uint64_t now = util_now();

	return picture_new(&fleet_vitals(fleet, now)->answer, &fleet_functions(fleet, now)->answer);
}

/* Asks both questions, as a screen does. */
static void ask(struct fleet *fleet, const struct function_request *functions)
{
	struct vitals_request vitals = picture_vitals_request();

	vitals.request.excerpt = functions->request.excerpt;
	fleet_request(fleet, &vitals.request);
	fleet_request(fleet, &functions->request);
}

static struct picture *part(const struct world *world, const char *kernel, uint32_t rate,
	uint64_t now)
{
	struct picture *picture = hand_picture(world->symbols, world->functions);

	strcpy(picture->vitals->kernel, kernel);
	strcpy(picture->functions->kernel, kernel);
	picture->vitals->rate = rate;
	picture->vitals->now = now;
	picture->functions->table->to = now;
	picture->functions->table->from = now - 10 * second;
	return picture;
}

static const struct row *find(const struct picture *picture, const char *name, const char *object)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < picture->functions->table->count; i++) {
		const struct row *row = &picture->functions->table->rows[i];
		const struct function *function = symbols_get(picture->functions->answer.symbols, row->function);

		if (strcmp(function->name, name) != 0 || strcmp(function->object, object) != 0)
			continue;
		assert_null(found);
		found = row;
	}
	return found;
}

/* The sum of all rows' self time. */
static uint64_t all_self(const struct picture *picture)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < picture->functions->table->count; i++)
		sum += picture->functions->table->rows[i].self;
	return sum;
}

/* The same weight is more time on a machine with a lower rate. */
static void test_sums_are_exact(void **state)
{
	struct world web = new_world(), db = new_world();
	struct fleet *fleet = fleet_new(names, 2, NULL);
	struct picture *picture;
	const struct row *row;

	(void)state;
	take(fleet, 0, part(&web, "Linux", 1000, 50 * second));
	take(fleet, 1, part(&db, "Linux", 250, 900 * second));
	picture = all_of(fleet);
	assert_int_equal(picture->functions->table->count, HAND_FUNCTIONS);
	row = find(picture, "memcpy", "Linux");
	assert_non_null(row);
	assert_int_equal(row->self, 7340 * 1000000ull + 7340 * 4000000ull);
	assert_int_equal(row->total, 7530 * 1000000ull + 7530 * 4000000ull);
	assert_int_equal(row->samples, 2 * 7200);
	assert_int_equal(row->cpus[0], 0x6);
	assert_int_equal(all_self(picture), picture->functions->table->weight);
	assert_int_equal(picture->functions->table->weight, 39799 * 5000000ull);
	assert_int_equal(picture->functions->table->mode[MODE_IDLE], 13900 * 5000000ull);
	assert_int_equal(picture->functions->table->to - picture->functions->table->from, 10 * second);
	picture_free(picture);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

static void test_kernels_are_told_apart(void **state)
{
	struct world web = new_world(), db = new_world(), mail = new_world();
	struct fleet *fleet = fleet_new(names, 3, NULL);
	struct picture *picture;

	(void)state;
	take(fleet, 0, part(&web, "Linux", 1000, 50 * second));
	take(fleet, 1, part(&db, "demo-kernel", 1000, 60 * second));
	take(fleet, 2, part(&mail, "Linux", 1000, 70 * second));
	picture = all_of(fleet);
	assert_int_equal(find(picture, "memcpy", "Linux")->self, 2 * 7340000000ull);
	assert_int_equal(find(picture, "memcpy", "Linux")->cpus[0], 0xa);
	assert_int_equal(find(picture, "memcpy", "demo-kernel")->self, 7340000000ull);
	assert_int_equal(find(picture, "memcpy", "demo-kernel")->cpus[0], 0x4);
	assert_null(find(picture, "memcpy", "kernel"));
	assert_int_equal(find(picture, "[unknown]", "shell")->self, 3 * 9000000000ull);
	assert_int_equal(find(picture, "[idle]", "")->self, 3 * 13900000000ull);
	picture_free(picture);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
	symbols_free(mail.symbols);
}

/* Each machine has a line with all its CPUs. States and losses are those of all machines. */
static void test_header(void **state)
{
	struct world web = new_world(), db = new_world();
	struct fleet *fleet = fleet_new(names, 3, NULL);
	struct picture *one = part(&web, "Linux", 1000, 50 * second), *picture;
	struct picture *other = part(&db, "Linux", 500, 50 * second);
	uint64_t kernel = 0;

	(void)state;
	one->vitals->lost_guest = 3;
	other->vitals->lost_guest = 4;
	other->vitals->lost_host = 5;
	strcpy(other->vitals->note, "something ails it");
	for (uint32_t i = 0; i < other->vitals->cpu_count; i++)
		kernel += other->vitals->cpus[i].series.mode[MODE_KERNEL];
	take(fleet, 0, one);
	take(fleet, 1, other);
	picture = all_of(fleet);
	assert_int_equal(picture->vitals->cpu_count, 3);
	assert_int_equal(picture->vitals->cpus[1].series.mode[MODE_KERNEL], kernel * 2000000);
	assert_int_equal(picture->vitals->cpus[2].series.mode[MODE_KERNEL], 0);
	assert_int_equal(picture->vitals->lost_guest, 7);
	assert_int_equal(picture->vitals->lost_host, 5);
	assert_true(picture->vitals->running);
	assert_int_equal(picture->vitals->link, LINK_UP);
	assert_string_equal(picture->vitals->machines[1].name, "2 db");
	assert_true(picture->vitals->machines[1].known);
	assert_false(picture->vitals->machines[2].known);
	assert_string_equal(picture->vitals->note, "2 db: something ails it");
	picture_free(picture);

	one = part(&web, "Linux", 1000, 51 * second);
	one->vitals->running = false;
	take(fleet, 0, one);
	picture = all_of(fleet);
	assert_false(picture->vitals->running);
	picture_free(picture);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

/* The best link of any machine is shown. Only machines whose link is up count as profiled. */
static void test_states_of_many(void **state)
{
	const enum link_state better[] = { LINK_NO_PORT, LINK_LOST, LINK_CONNECTING, LINK_TAKEN,
		LINK_NOT_OPENED, LINK_NO_HELLO, LINK_SILENT, LINK_UP };
	enum { LINKS = sizeof(better) / sizeof(*better) };
	struct world web = new_world(), db = new_world();
	struct fleet *fleet = fleet_new(names, 2, NULL);

	(void)state;
	for (size_t i = 0; i < LINKS * LINKS; i++) {
		enum link_state links[] = { better[i / LINKS], better[i % LINKS] };
		struct picture *one = part(&web, "Linux", 1000, (50 + i) * second), *picture;
		struct picture *other = part(&db, "Linux", 1000, (50 + i) * second);

		one->vitals->link = links[0];
		other->vitals->link = links[1];
		take(fleet, 0, one);
		take(fleet, 1, other);
		picture = all_of(fleet);
		assert_int_equal(picture->vitals->link, links[i / LINKS < i % LINKS]);
		for (int k = 0; k < 2; k++)
			assert_int_equal(picture->vitals->machines[k].running, links[k] == LINK_UP);
		picture_free(picture);
	}
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

/* A new rate counts from now on: what was sampled before keeps its time. */
static void test_another_rate_moves_no_past(void **state)
{
	struct world web = new_world(), db = new_world();
	struct fleet *fleet = fleet_new(names, 2, NULL);
	struct picture *one = part(&web, "Linux", 1000, 50 * second), *picture;
	uint64_t weight;

	(void)state;
	one->functions->table->time = one->functions->table->weight * 1000000;
	take(fleet, 0, one);
	take(fleet, 1, part(&db, "demo-kernel", 1000, 50 * second));
	picture = all_of(fleet);
	weight = picture->functions->table->weight;
	picture_free(picture);

	one = part(&web, "Linux", 100, 51 * second);		/* the rate is 100 now, and no sample has come since */
	one->functions->table->time = one->functions->table->weight * 1000000;
	take(fleet, 0, one);
	picture = all_of(fleet);
	assert_int_equal(picture->functions->table->weight, weight);
	assert_int_equal(find(picture, "memcpy", "Linux")->self,
		find(picture, "memcpy", "demo-kernel")->self);
	picture_free(picture);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

/* For the visible rows, each machine is asked for its own functions, and their trends are added up. */
static void test_visible_rows(void **state)
{
	struct world web = new_world(), db = new_world();
	struct fleet *fleet = fleet_new(names, 2, NULL);
	struct picture *picture, *before;
	struct function_request wanted = picture_function_request(), asked;
	const struct row *row;

	(void)state;
	take(fleet, 0, part(&web, "Linux", 1000, 50 * second));
	take(fleet, 1, part(&db, "Linux", 500, 50 * second));
	before = all_of(fleet);
	row = find(before, "spin_lock", "Linux");
	wanted.request.excerpt.window_ns = 10 * second;
	wanted.request.excerpt.filter = filter_of("cpu:1");
	wanted.visible[0] = wanted.selected = row->function;
	wanted.visible_count = 1;
	ask(fleet, &wanted);
	asked = fleet_function_request(fleet, 1);
	assert_int_equal(asked.visible_count, 1);
	assert_int_equal(asked.visible[0], db.functions[1]);
	assert_int_equal(asked.request.excerpt.window_ns, 10 * second);
	assert_filter(&asked.request.excerpt.filter, "cpu:1");
	picture = all_of(fleet);
	assert_int_equal(picture->functions->visible_count, 1);
	assert_int_equal(picture->functions->visible[0].trend[6], 200 * 3000000ull);
	assert_string_equal(picture->functions->visible[0].line, "kern/lock.c:18");
	assert_int_equal(picture->functions->machines[0].total, 17450 * 1000000ull);
	assert_int_equal(picture->functions->machines[1].total, 17450 * 2000000ull);
	picture_free(before);
	picture_free(picture);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

/* Zero and freeze are set where each machine's own clock stands. A new boot counts from its beginning. */
static void test_clocks_are_never_mixed(void **state)
{
	struct world web = new_world(), db = new_world(), again = new_world();
	struct fleet *fleet = fleet_new(names, 3, NULL);
	struct function_request wanted = picture_function_request();

	(void)state;
	take(fleet, 0, part(&web, "Linux", 1000, 50 * second));
	take(fleet, 1, part(&db, "Linux", 1000, 900 * second));
	wanted.request.excerpt.zero_ns = 7;
	ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).zero_ns, 50 * second);
	assert_int_equal(fleet_excerpt(fleet, 1).zero_ns, 900 * second);
	assert_int_equal(fleet_excerpt(fleet, 2).zero_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 0);

	take(fleet, 0, part(&web, "Linux", 1000, 60 * second));
	wanted.request.excerpt.until_ns = 9;
	ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).zero_ns, 50 * second);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 60 * second);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 900 * second);
	assert_int_equal(fleet_excerpt(fleet, 2).until_ns, 1);

	take(fleet, 1, part(&again, "Linux", 1000, 1000 * second));
	assert_int_equal(fleet_excerpt(fleet, 1).zero_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 1);
	wanted.request.excerpt.until_ns = 0;
	ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 0).zero_ns, 50 * second);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
	symbols_free(again.symbols);
}

/* The functions of a new boot have other ids, and are found again by their names. */
static void test_new_boot(void **state)
{
	static const char *const list[] = { "other", "memcpy" };
	struct world web = new_world();
	struct fleet *fleet = fleet_new(names, 1, NULL);
	struct picture *picture, *next;
	struct symbols *symbols;
	uint32_t functions[2], id;

	(void)state;
	take(fleet, 0, part(&web, "Linux", 1000, 50 * second));
	picture = all_of(fleet);
	id = find(picture, "memcpy", "Linux")->function;
	symbols = hand_kernel(list, 2, functions);
	next = part(&web, "Linux", 1000, 50 * second);
	hand_rows(next, symbols, functions, 2);
	take(fleet, 0, next);
	picture_free(picture);
	picture = all_of(fleet);
	assert_int_equal(picture->functions->table->count, 2);
	assert_int_equal(find(picture, "memcpy", "Linux")->function, id);
	assert_int_equal(find(picture, "memcpy", "Linux")->self, 5000 * 1000000ull);
	picture_free(picture);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_exact),
		cmocka_unit_test(test_kernels_are_told_apart),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_states_of_many),
		cmocka_unit_test(test_another_rate_moves_no_past),
		cmocka_unit_test(test_visible_rows),
		cmocka_unit_test(test_clocks_are_never_mixed),
		cmocka_unit_test(test_new_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
