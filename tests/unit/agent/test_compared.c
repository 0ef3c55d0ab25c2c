/* SPDX-License-Identifier: MIT */
/* A function's page and its annotation with a baseline: what they tell of it is what they tell when asked about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/annotation.h"
#include "agent/answers/function_page.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/session/session.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/session_fixture.h"

enum { ROUNDS = 100, ROUND_MS = 20 };
enum { HOT = 0x1210, COLD = 0x1310, MAIN_LOOP = 0x1120 };	/* in functions of fixture_names */

/* Two seconds in which `often` runs four times as much as `seldom`. */
static void run(struct fixture *fixture, uint64_t often, uint64_t seldom)
{
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 5; k++)
			fake_guest_sample(fixture->guest, (uint32_t)k % 2, 1, k ? often : seldom, MAIN_LOOP);
		fake_guest_beat(fixture->guest, ROUND_MS);
		fixture_step(fixture);
	}
	answers_free(fixture_answers(fixture));
}

static const struct excerpt before = { .window_ns = 2 * NS_PER_SECOND };

/* The last second, beside the one that ended at `mark`; or that one alone. */
static struct excerpt compared(uint64_t mark)
{
	struct excerpt excerpt = { .window_ns = NS_PER_SECOND };

	excerpt.base.window_ns = before.window_ns;
	excerpt.base.until_ns = mark;
	return excerpt;
}

static struct excerpt alone(uint64_t mark)
{
	struct excerpt excerpt = before;

	excerpt.until_ns = mark;
	return excerpt;
}

static struct function_page *page_of(const struct moment *moment, uint64_t function, struct excerpt excerpt)
{
	struct function_page_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &function_page_kind;
	request.request.excerpt = excerpt;
	request.tree.orders = 1 << TREE_DOWN | 1 << TREE_UP;
	request.tree.of = function;
	request.tree.deepest = 8;
	return (struct function_page *)function_page_kind.make(&request.request, moment);
}

static struct annotation *annotation_of(const struct moment *moment, uint64_t function, struct excerpt excerpt)
{
	struct annotation_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &annotation_kind;
	request.request.excerpt = excerpt;
	request.function = function;
	return (struct annotation *)annotation_kind.make(&request.request, moment);
}

static void check_trees(const struct tree *tree, const struct tree *base)
{
	assert_true(tree->base.there);
	assert_int_equal(tree->base.weight, base->weight);
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count; i++) {
			const struct tree_row *row = &tree->lists[order].rows[i];
			uint64_t total = 0;

			for (size_t k = 0; k < base->lists[order].count; k++)
				if (base->lists[order].rows[k].path == row->path)
					total = base->lists[order].rows[k].total;
			assert_true(row->based);
			assert_int_equal(row->base_total, total);
		}
}

static void check_tables(const struct table *table, const struct table *base)
{
	assert_non_null(table->base);
	assert_int_equal(table->base->weight, base->weight);
	assert_int_equal(table->base->count, base->count);
	for (size_t i = 0; i < table->count; i++)
		for (size_t k = 0; k < base->count; k++)
			if (base->rows[k].function == table->rows[i].function) {
				assert_int_not_equal(table->rows[i].base, 0);
				assert_int_equal(table->base->rows[table->rows[i].base - 1].self, base->rows[k].self);
			}
}

static void test_what_a_baseline_had(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct moment moment = { .past = true };
	struct function_page *page, *base_page;
	struct annotation *annotation, *base_annotation;
	uint64_t mark, hot;

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	run(&fixture, HOT, COLD);
	moment.epoch = session_epoch(fixture.session);
	mark = epoch_now(moment.epoch);
	run(&fixture, COLD, HOT);
	for (int i = 0; i < QUESTIONS_MOST; i++)
		moment.readers[i] = query_reader_new(moment.epoch->query);
	hot = tree_name(symbols_get(moment.epoch->inputs.symbols,
		symbols_function(moment.epoch->inputs.symbols, EVENT_KERNEL, HOT)), moment.epoch->kernel);
	page = page_of(&moment, hot, compared(mark));
	annotation = annotation_of(&moment, hot, compared(mark));
	memset(moment.readers, 0, sizeof(moment.readers));
	base_page = page_of(&moment, hot, alone(mark));
	base_annotation = annotation_of(&moment, hot, alone(mark));

	check_trees(page->tree->tree, base_page->tree->tree);
	for (int i = 0; i < PAGE_TABLES; i++)
		check_tables(page->tables[i]->table, base_page->tables[i]->table);
	assert_true(base_page->tree->tree->lists[TREE_DOWN].rows[0].total > 300);
	assert_true(annotation->base.there);
	assert_int_equal(annotation->base.self.weight, base_annotation->self.weight);
	assert_int_equal(annotation->base.weight, base_annotation->weight);
	assert_true(annotation_self_change(annotation).share < -0.5);	/* from 80 % to 20 % */
	assert_false(annotation_self_change(annotation).chance);
	answer_free((struct answer *)page);
	answer_free((struct answer *)base_page);
	answer_free((struct answer *)annotation);
	answer_free((struct answer *)base_annotation);
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_baseline_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
