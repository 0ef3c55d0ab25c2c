/* SPDX-License-Identifier: MIT */
/*
 * `tree PREFIX name=value...` prints what answers about call trees and about tables of functions cost: in milliseconds
 * of processor time, and trees live in percent of a core, with ten answers for each second of guest time. The flame has
 * a row for each 400th of the weight.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/addresses/query_addresses.h"
#include "agent/query/query.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "agent/query/series.h"
#include "agent/store/stacks.h"
#include "tests/unit/fakes/packets.h"
#include "intake.h"
#include "setup.h"

enum { TURNS_PER_ANSWER = 100 / TRAFFIC_TURN_MS, LEAST = 400, VISIBLE = 40, LIVE_S = 20, WINDOW_S = 10 };

struct reader {				/* one view: its question, and what its answers cost */
	const char *name;
	struct question question;
	struct tree_question wanted;
	uint64_t spent, most;		/* ns of processor time: of all answers, of the longest */
	uint32_t answers;
	uint64_t key;			/* ns of the longest of the answers that a key needs */
	size_t rows;			/* of the last answer */
};

static struct tree *answer(struct reader *reader, const struct epoch *epoch)
{
	uint64_t begin = setup_spent(), took;
	struct tree *tree = query_tree(epoch->query, &reader->question, &reader->wanted, "kernel");

	took = setup_spent() - begin;
	reader->spent += took;
	reader->most = took > reader->most ? took : reader->most;
	reader->answers++;
	reader->rows = tree->lists[TREE_DOWN].count + tree->lists[TREE_UP].count;
	return tree;
}

/* Prints what an answer cost. */
static void measure(struct reader *reader, const struct epoch *epoch, const char *prefix, const char *what)
{
	struct tree *tree = answer(reader, epoch);

	printf("%s_%s_%s\t%.1f\tms, %zu rows\n", prefix, reader->name, what,
		(double)reader->spent / 1e6, reader->rows);
	/* The next question unfolds the heaviest row that is folded, and asks for trends of what a screen shows. */
	reader->wanted.trend_count = 0;
	for (int order = 0; order < TREE_ORDERS; order++) {
		const struct tree_list *list = &tree->lists[order];
		const struct tree_row *heaviest = NULL;

		for (size_t i = 0; i < list->count; i++) {
			const struct tree_row *row = &list->rows[i];

			if (reader->wanted.trend_count < VISIBLE && !reader->wanted.least)
				reader->wanted.trends[reader->wanted.trend_count++] = row->path;
			if (row->has_more && !row->unfolded && (!heaviest || row->total > heaviest->total))
				heaviest = row;
		}
		if (heaviest)
			reader->wanted.unfolded[reader->wanted.unfolded_count++] = heaviest->path;
	}
	tree_free(tree);
	reader->key = reader->most > reader->key && strcmp(what, "key") == 0 ? reader->most : reader->key;
	reader->spent = reader->most = reader->answers = 0;
}

/* A key in the table of functions: the time until the answer to the new question. */
static uint64_t press(struct query *query, const struct question *question, uint32_t callee, const char *prefix,
	const char *what)
{
	uint64_t begin = setup_spent(), took;
	struct table *table = query_table(query, question);
	struct caller callers[8];

	if (callee != FUNCTION_NONE)
		query_callers(query, question, callee, callers, sizeof(callers) / sizeof(*callers));
	took = setup_spent() - begin;
	printf("%s_table_%s\t%.1f\tms, %zu rows\n", prefix, what, (double)took / 1e6, table->count);
	table_free(table);
	return took;
}

/* The first answer about one function: its code, and the time line of all that is kept. */
static uint64_t look_at(const struct epoch *epoch, const struct question *question, uint32_t function,
	const char *prefix)
{
	uint64_t of = tree_name(symbols_get(epoch->inputs.symbols, function), "kernel");
	uint64_t begin = setup_spent(), code, line;
	struct address_sums sums = query_addresses(epoch->query, question, &function, 1);
	static struct series series;

	code = setup_spent() - begin;
	address_sums_clear(&sums);
	begin = setup_spent();
	series_make(epoch->query, question, of, SERIES_SLOTS, &series);
	line = setup_spent() - begin;
	printf("%s_code\t%.1f\tms\n", prefix, (double)code / 1e6);
	printf("%s_line\t%.1f\tms\n", prefix, (double)line / 1e6);
	return code > line ? code : line;
}

static void press_keys(const struct epoch *epoch, const char *prefix)
{
	struct query *query = epoch->query;
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(query) };
	uint64_t now = epoch_now(epoch), most = 0, took[6];

	press(query, &question, FUNCTION_NONE, prefix, "first");
	question.from = now > WINDOW_S * NS_PER_SECOND ? now - WINDOW_S * NS_PER_SECOND : 0;
	took[0] = press(query, &question, FUNCTION_NONE, prefix, "narrower");
	took[1] = press(query, &question, 0, prefix, "cursor");
	took[2] = press(query, &question, 1, prefix, "cursor");
	question.from = 0;
	took[3] = press(query, &question, 1, prefix, "wider");
	question.by = GROUP_OBJECT;
	took[4] = press(query, &question, FUNCTION_NONE, prefix, "objects");
	took[5] = look_at(epoch, &question, 1, prefix);
	for (size_t i = 0; i < sizeof(took) / sizeof(took[0]); i++)
		most = took[i] > most ? took[i] : most;
	printf("%s_table_key_most\t%.1f\tms\n", prefix, (double)most / 1e6);
	query_reader_free(query, question.reader);
}

static struct reader new_reader(const struct epoch *epoch, const char *name, uint32_t orders, uint32_t least)
{
	return (struct reader) {
		.name = name, .question = { .to = UINT64_MAX, .reader = query_reader_new(epoch->query) },
		.wanted = { .orders = orders, .least = least },
	};
}

int main(int argc, char **argv)
{
	const char *prefix = argc > 1 ? argv[1] : "tree";
	struct setup setup = setup_parse(argc - 1, argv + 1);
	struct world *world = world_new(&setup.world);
	struct traffic *traffic = traffic_new(world, &setup.traffic);
	struct intake *intake = intake_new(setup.names, NULL);
	struct packets *packets = traffic_bytes(traffic);
	struct reader readers[3];

	traffic_hello(traffic);
	while (traffic_samples(traffic) < setup.samples) {
		traffic_turn(traffic);
		intake_feed(intake, packets->bytes, packets->size);
		packets->size = 0;
	}
	press_keys(intake_epoch(intake), prefix);
	readers[0] = new_reader(intake_epoch(intake), "down", 1u << TREE_DOWN, 0);
	readers[1] = new_reader(intake_epoch(intake), "up", 1u << TREE_UP, 0);
	readers[2] = new_reader(intake_epoch(intake), "flame", 1u << TREE_DOWN, LEAST);
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		measure(&readers[i], intake_epoch(intake), prefix, "first");
		for (int key = 0; key < 4; key++)
			measure(&readers[i], intake_epoch(intake), prefix, "key");
		printf("%s_%s_key_most\t%.1f\tms\n", prefix, readers[i].name, (double)readers[i].key / 1e6);
	}
	for (uint32_t turn = 1; turn <= LIVE_S * 1000 / TRAFFIC_TURN_MS; turn++) {
		traffic_turn(traffic);
		intake_feed(intake, packets->bytes, packets->size);
		packets->size = 0;
		for (size_t i = 0; turn % TURNS_PER_ANSWER == 0 && i < sizeof(readers) / sizeof(readers[0]); i++) {
			uint64_t now = epoch_now(intake_epoch(intake)), window = WINDOW_S * NS_PER_SECOND;

			readers[i].question.from = now > window ? now - window : 0;
			tree_free(answer(&readers[i], intake_epoch(intake)));
		}
	}
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		printf("%s_%s_live\t%.2f\t%% of a core, %.1f ms at most, %zu rows\n", prefix, readers[i].name,
			100 * (double)readers[i].spent / (double)(LIVE_S * NS_PER_SECOND),
			(double)readers[i].most / 1e6, readers[i].rows);
	printf("%s_nodes\t%u\tnodes\n", prefix, stacks_nodes(intake_epoch(intake)->inputs.stacks));
	printf("%s_functions\t%zu\tfunctions\n", prefix, symbols_functions(intake_epoch(intake)->inputs.symbols));
	intake_check(intake, traffic_samples(traffic));
	intake_free(intake);
	traffic_free(traffic);
	world_free(world);
	return 0;
}
