/* SPDX-License-Identifier: MIT */
/* The table where whoever ran a sample decides its row. */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/query/question/grouping.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "query_state.h"
#include "stop.h"

struct making {
	struct query *query;
	struct window *window;
	const struct match *match;
	struct table *table;
	bool ran;			/* the functions that ran are wanted */
};

/* Rows may have got ids since the last one. */
static struct row *have_row(struct making *making, uint32_t function)
{
	struct query *query = making->query;

	while (query->place_count <= function) {
		size_t more = function + function / 4 + 256;

		query->places = util_grow(query->places, more, sizeof(*query->places));
		while (query->place_count < more)
			query->places[query->place_count++] = NOWHERE;
	}
	if (query->places[function] == NOWHERE) {
		query->places[function] = (uint32_t)making->table->count;
		return table_add(making->table, function);
	}
	return &making->table->rows[query->places[function]];
}

static void add_count(struct making *making, uint32_t function, const struct run_count *count, const struct who *who)
{
	struct row *row = have_row(making, function);

	row->self += count->weight;
	row->total += count->weight;
	row->samples += count->samples;
	row->kernel += who->mode == MODE_KERNEL ? count->weight : 0;
	row->user += who->mode == MODE_USER ? count->weight : 0;
	if (who->cpu < 64 * making->table->words)
		row->cpus[who->cpu / 64] |= UINT64_C(1) << who->cpu % 64;
}

static void add_run(struct making *making, const struct run *run)
{
	struct match_reader reader = match_begin(making->match, run);
	struct scan *scan = &making->query->scan;
	struct run_count count;
	const struct who *who;

	while (match_next(&reader, &count, &who)) {
		uint32_t row = match_row(&reader, count.who);

		add_count(making, row, &count, who);
		scan->whole.weight += count.weight;
		scan->whole.samples += count.samples;
		scan->whole.mode[who->mode] += count.weight;
		if (making->ran && who->mode != MODE_IDLE)
			scan_add_pair(&scan->pairs, scan->budget, row, count.stack == STACKS_NONE ?
				making->match->unknown : making->match->functions[count.stack], count.weight);
	}
}

struct table *query_who_table(struct query *query, struct window *window, bool ran)
{
	const struct match match = window_match(window);
	struct making making = { .query = query, .window = window, .match = &match };
	struct scan *scan = &query->scan;
	uint32_t cpus = 0;

	making.ran = ran && grouping_has_ran(window->question.by) && !scan->has_pairs;
	scan->pairs.refused = making.ran ? 0 : scan->pairs.refused;
	for (size_t i = window->span.first; i < window->span.end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		cpus = slice.cpus->count > cpus ? slice.cpus->count : cpus;
	}
	cpus = cpus < 64 * SCAN_WORDS_MAX ? cpus : 64 * SCAN_WORDS_MAX;
	making.table = table_new(query->inputs.budget, 0, (cpus + 63) / 64);
	query->place_count = 0;
	scan->whole = (struct scan_whole) { .weight = 0 };
	for (size_t i = window->span.first; i < window->span.end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);
		uint64_t before = scan->whole.weight;

		for (size_t k = 0; k < slice.run_count; k++)
			add_run(&making, slice.runs[k]);
		scan_add_slice(&scan->whole, &match, &slice, before);
	}
	scan->has_pairs = scan->has_pairs || (making.ran && !stop_now(window->stop));
	return making.table;
}
