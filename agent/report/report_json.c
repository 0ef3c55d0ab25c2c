/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "agent/answers/call_tree.h"
#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/export/export_json.h"
#include "agent/export/json_writer.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/stop.h"
#include "agent/query/table.h"
#include "agent/session/profile_facts.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* `numbers`: by row of the tree, the number of its row here; a row's parent has one. */
static void put_tree_row(struct json_writer *writer, const struct report *report, const struct tree_row *row,
	const uint32_t *numbers)
{
	const struct tree *tree = report->tree->tree;
	const struct function *function = symbols_get(report->epoch->inputs.symbols, row->function);
	const struct tree_row *rows = tree->lists[report->request.tree].rows;
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	json_add_count(object, "depth", row->depth);
	if (row->parent != TREE_TOP)
		json_add_count(object, "parent", numbers[row->parent]);
	json_add_count(object, "total", row->total);
	json_add_count(object, "self", row->self);
	json_add_count(object, "samples", row->samples);
	cJSON_AddNumberToObject(object, "total_percent", percent(row->total, tree->weight));
	if (row->parent != TREE_TOP)
		cJSON_AddNumberToObject(object, "parent_percent", percent(row->total, rows[row->parent].total));
	json_row(writer, object);
}

static void put_tree(struct json_writer *writer, const struct report *report)
{
	const struct tree *tree = report->tree ? report->tree->tree : NULL;
	const struct tree_row *row;
	uint32_t *numbers, count = 0;
	size_t at = 0;

	if (!tree)
		return;
	numbers = util_alloc(tree->lists[report->request.tree].count * sizeof(*numbers));
	json_member_text(writer, "tree_order", report->request.tree == TREE_UP ? "up" : "down");
	json_member_count(writer, "tree_missing", report_tree_missing(report));
	json_begin_list(writer, "tree");
	while ((row = report_tree_row(report, &at)) && !stop_now(session_given_up(report->session))) {
		numbers[at - 1] = count++;
		put_tree_row(writer, report, row, numbers);
	}
	json_end_list(writer);
	free(numbers);
}

/* The members of the JSON before its table. */
static void put_facts(const void *context, struct json_writer *writer)
{
	const struct report *report = context;

	profile_facts_json(&(struct profile_facts) {
		.epoch = report->epoch, .profile = report->profile, .status = &report->status, .begin = report->begin,
		.from = report->from, .to = report->to, .note = report->note,
	}, writer);
}

static void put_more(const void *context, struct json_writer *writer)
{
	put_tree(writer, context);
	report_events_json(context, writer);
	report_memory_json(context, writer);
	report_timeline_json(context, writer);
	report_threads_json(context, writer);
	report_annotation_json(context, writer);
}

bool report_json(const struct report *report, FILE *out, char **error)
{
	const struct epoch *epoch = report->epoch;
	const struct export_input input = {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &report->profile->question,
		.table = report->profile->table,
	};
	const struct export_choice choice = json_choice((struct json_options) {
		.facts = put_facts, .more = put_more, .context = report, .stop = session_given_up(report->session),
		.cpus = epoch->cpu_count, .set_aside = epoch->sampler,
	});
	struct export *export = export_new(&choice, &input);
	struct export_result result;
	bool good = export_put(export, "JSON", out, &result, error);

	export_free(export);
	return good;
}
