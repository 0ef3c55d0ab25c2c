/* SPDX-License-Identifier: MIT */
/* The call trees of many machines as one. */
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

enum { MACHINES = 3, FUNCTIONS = 4, ROOT = 0, READ = 1, WRITE = 2, COPY = 3, ALIEN = 4711 };

static const char *const names[MACHINES] = { "1 web", "2 db", "3 mail" };

struct machine {
	struct symbols *symbols;
	uint32_t functions[FUNCTIONS];
};

/* The ids of the functions depend on the order in which they were added. */
static struct machine new_machine(bool backwards)
{
	static const char *const kernel[FUNCTIONS] = { "root", "read", "write", "copy" };
	struct machine machine = { .symbols = symbols_new(NULL) };

	for (int i = 0; i < FUNCTIONS; i++) {
		int at = backwards ? FUNCTIONS - 1 - i : i;

		machine.functions[at] = symbols_add(machine.symbols, &(struct function) {
			.name = kernel[at], .object = "kernel", .kernel = true, .known = true });
	}
	return machine;
}

static struct call_tree *new_tree(const struct machine *machine, uint64_t period)
{
	struct call_tree *answer = util_alloc(sizeof(*answer));

	answer->answer = (struct answer) { .kind = &call_tree_kind, .symbols = machine->symbols };
	strcpy(answer->kernel, "Linux");
	answer->tree = tree_new(NULL);
	answer->tree->to = 100 * NS_PER_SECOND;
	answer->tree->from = 90 * NS_PER_SECOND;
	answer->tree->time = period;		/* of one; see weigh */
	return answer;
}

/* Adds a row, whose path is made of the functions' numbers. */
static struct tree_row *add(struct call_tree *answer, const struct machine *machine, uint64_t path, int function,
	uint64_t total)
{
	struct tree_row *row = tree_add(answer->tree, TREE_DOWN), *rows = answer->tree->lists[TREE_DOWN].rows;

	row->path = path;
	row->function = machine->functions[function];
	row->total = row->samples = total;
	for (size_t i = 0; path >= 10 && i + 1 < answer->tree->lists[TREE_DOWN].count; i++)
		if (rows[i].path == path / 10) {
			row->parent = (uint32_t)i;
			row->depth = rows[i].depth + 1;
			rows[i].unfolded = rows[i].has_more = true;
		}
	return row;
}

static void weigh(struct call_tree *answer, uint64_t weight)
{
	answer->tree->weight = answer->tree->samples = answer->tree->mode[MODE_KERNEL] = weight;
	answer->tree->time *= weight;
}

static void assert_rows(const struct call_tree *answer, const char *expected)
{
	const struct tree_list *list = &answer->tree->lists[TREE_DOWN];
	char text[512] = "", *at = text;

	for (size_t i = 0; i < list->count; i++) {
		const struct function *function = symbols_get(answer->answer.symbols, list->rows[i].function);

		at += sprintf(at, "%u %s %s %d%s\n", list->rows[i].depth, function->name, function->object,
			(int)list->rows[i].total, list->rows[i].unfolded ? " -" : list->rows[i].has_more ? " +" : "");
	}
	assert_string_equal(text, expected);
}

static struct call_tree_request down(void)
{
	struct call_tree_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &call_tree_kind;
	request.tree.orders = 1u << TREE_DOWN;
	return request;
}

static void take_two(struct fleet *fleet, const struct machine *web, const struct machine *db)
{
	struct call_tree *one = new_tree(web, 1), *other = new_tree(db, 10);
	struct tree_row *row;

	add(one, web, 1, ROOT, 100);
	add(one, web, 12, READ, 70);
	row = add(one, web, 13, WRITE, 30);
	row->has_more = true;
	tree_add_trend(one->tree, row, 4)[59] = 7;
	weigh(one, 100);
	add(other, db, 1, ROOT, 50);
	row = add(other, db, 13, WRITE, 40);
	tree_add_trend(other->tree, row, 4)[59] = 2;
	add(other, db, 134, COPY, 25);
	add(other, db, 12, READ, 10);
	weigh(other, 50);
	fleet_take(fleet, 0, &one->answer, util_now());
	fleet_take(fleet, 1, &other->answer, util_now());
}

/* A weight counts as the time that it stands for, so the order may be another than on each machine. */
static void rows_with_the_same_path_are_one(void **state)
{
	struct machine web = new_machine(false), db = new_machine(true);
	struct fleet *fleet = fleet_new(names, MACHINES, NULL);
	struct call_tree_request request = down();
	struct call_tree *all;

	(void)state;
	fleet_request(fleet, &request.request);
	assert_true(fleet_is_asked(fleet, &request.request));
	all = fleet_tree(fleet, util_now());
	assert_rows(all, "");
	answer_free((struct answer *)all);
	take_two(fleet, &web, &db);
	all = fleet_tree(fleet, util_now());
	assert_rows(all, "0 root Linux 600 -\n1 write Linux 430 -\n2 copy Linux 250\n1 read Linux 170\n");
	assert_int_equal(all->tree->weight, 600);
	assert_int_equal(all->tree->time, 600);
	assert_int_equal(all->tree->mode[MODE_KERNEL], 600);
	assert_int_equal(all->tree->to - all->tree->from, 10 * NS_PER_SECOND);
	assert_int_equal(all->tree->lists[TREE_DOWN].rows[1].trend[59], 27);
	assert_null(all->tree->lists[TREE_DOWN].rows[0].trend);
	answer_free((struct answer *)all);
	request.tree.of = ALIEN;
	fleet_request(fleet, &request.request);
	all = fleet_tree(fleet, util_now());		/* what has come answers another question */
	assert_rows(all, "");
	assert_int_equal(all->tree->weight, 0);
	answer_free((struct answer *)all);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

/* What is heavy in the sum is unfolded on each machine, also where it is light. */
static void a_heavy_row_is_unfolded_everywhere(void **state)
{
	struct machine web = new_machine(false), db = new_machine(true);
	struct fleet *fleet = fleet_new(names, MACHINES, NULL);
	struct call_tree_request request = down(), asked;

	(void)state;
	request.tree.least = 2;
	request.tree.unfolded[request.tree.unfolded_count++] = 12;
	fleet_request(fleet, &request.request);
	take_two(fleet, &web, &db);
	answer_free((struct answer *)fleet_tree(fleet, util_now()));
	asked = fleet_own_request(fleet, 0, &call_tree_kind).tree;
	assert_int_equal(asked.tree.unfolded_count, 3);
	assert_int_equal(asked.tree.unfolded[0], 12);
	assert_int_equal(asked.tree.unfolded[1], 1);
	assert_int_equal(asked.tree.unfolded[2], 13);
	request.tree.least = 0;
	fleet_request(fleet, &request.request);
	asked = fleet_own_request(fleet, 0, &call_tree_kind).tree;
	assert_int_equal(asked.tree.unfolded_count, 1);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(db.symbols);
}

/* Rows of a machine that was restarted have other ids, perhaps those that other functions had before. */
static void a_new_boot_has_its_own_ids(void **state)
{
	struct machine web = new_machine(false), again = new_machine(true), db = new_machine(false);
	struct fleet *fleet = fleet_new(names, MACHINES, NULL);
	struct call_tree_request request = down();
	struct call_tree *all;

	(void)state;
	fleet_request(fleet, &request.request);
	take_two(fleet, &web, &db);
	answer_free((struct answer *)fleet_tree(fleet, util_now()));
	take_two(fleet, &again, &db);
	all = fleet_tree(fleet, util_now());
	assert_rows(all, "0 root Linux 600 -\n1 write Linux 430 -\n2 copy Linux 250\n1 read Linux 170\n");
	answer_free((struct answer *)all);
	fleet_free(fleet);
	symbols_free(web.symbols);
	symbols_free(again.symbols);
	symbols_free(db.symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_with_the_same_path_are_one),
		cmocka_unit_test(a_heavy_row_is_unfolded_everywhere),
		cmocka_unit_test(a_new_boot_has_its_own_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
