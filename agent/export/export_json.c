/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/question/grouping.h"
#include "agent/query/stop.h"
#include "agent/query/table.h"
#include "export_csv.h"
#include "export_json.h"
#include "json_writer.h"

enum { CALLERS = 8 };

/* What only the owner of the symbols may ask, or what may change, is copied. All else is the input's. */
struct answer {
	struct export_input input;
	struct json_options options;
	char *facts;			/* as JSON, with the beginning of the object */
	struct cpu_series *cpus;	/* NULL: none are known */
	const char **lines;		/* by row */
	struct caller *callers;		/* of all rows, one after the other */
	uint32_t *callers_end;		/* by row: the end of its own */
	uint32_t caller_count, caller_room;
	bool starved;			/* there was no memory for all of it */
};

static const char *const mode_names[MODES] = { "kernel", "user", "idle" };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_cpus(struct json_writer *writer, const struct answer *answer)
{
	const struct cpu_series *series = answer->cpus;

	json_begin_list(writer, "cpus");
	for (uint32_t i = 0; series && i < answer->options.cpus; i++) {
		cJSON *row = cJSON_CreateObject();

		json_add_count(row, "cpu", i);
		cJSON_AddBoolToObject(row, "sampler", answer->options.set_aside == i);
		for (int mode = 0; mode < MODES; mode++)
			json_add_count(row, mode_names[mode], series[i].mode[mode]);
		json_add_count(row, "missed", series[i].missed);
		json_row(writer, row);
	}
	json_end_list(writer);
}

static void add_cpu_list(cJSON *function, const struct table *table, const struct row *row,
	uint32_t cpu_count)
{
	cJSON *cpus = cJSON_AddArrayToObject(function, "cpus");

	for (uint32_t i = 0; i < cpu_count && i < 64 * table->words; i++)
		if (row->cpus[i / 64] >> i % 64 & 1)
			cJSON_AddItemToArray(cpus, cJSON_CreateNumber(i));
}

static void add_callers(cJSON *function, const struct answer *answer, size_t row)
{
	cJSON *list = cJSON_AddArrayToObject(function, "callers");
	const struct caller *callers = answer->callers;

	for (uint32_t i = row ? answer->callers_end[row - 1] : 0; i < answer->callers_end[row]; i++) {
		cJSON *caller = cJSON_CreateObject();

		cJSON_AddItemToArray(list, caller);
		cJSON_AddStringToObject(caller, "name",
			symbols_get(answer->input.inputs->symbols, callers[i].function)->name);
		json_add_count(caller, "weight", callers[i].weight);
	}
}

static void put_function(struct json_writer *writer, const struct answer *answer, size_t index)
{
	const struct row *row = &answer->input.table->rows[index];
	const struct function *function = symbols_get(answer->input.inputs->symbols, row->function);
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	cJSON_AddStringToObject(object, "source", answer->lines[index]);
	json_add_count(object, "self", row->self);
	json_add_count(object, "total", row->total);
	cJSON_AddNumberToObject(object, "self_percent", percent(row->self, answer->input.table->weight));
	cJSON_AddNumberToObject(object, "total_percent",
		percent(row->total, answer->input.table->weight));
	json_add_count(object, "samples", row->samples);
	add_cpu_list(object, answer->input.table, row, answer->options.cpus);
	add_callers(object, answer, index);
	json_row(writer, object);
}

static void collect_facts(struct answer *answer)
{
	struct json_writer writer;
	size_t size;
	FILE *to = util_text_open(&answer->facts, &size);

	json_begin_object(&writer, to);
	if (answer->options.facts)
		answer->options.facts(answer->options.context, &writer);
	answer->starved = writer.failed;
	util_text_close(to, &answer->facts);
}

static void collect_cpus(struct answer *answer)
{
	uint32_t count = answer->options.cpus;

	answer->cpus = calloc(count + 1, sizeof(*answer->cpus));
	if (answer->cpus)
		query_cpus(answer->input.query, answer->input.question, answer->cpus, count);
}

/* Never 0. */
static size_t size_of_ends(const struct answer *answer)
{
	return (answer->input.table->count + 1) * sizeof(*answer->callers_end);
}

static bool add_caller(struct answer *answer, const struct caller *caller)
{
	struct caller *list = budget_array(answer->input.table->budget, answer->callers, answer->caller_count,
		&answer->caller_room, sizeof(*list));

	if (!list)
		return false;
	answer->callers = list;
	list[answer->caller_count++] = *caller;
	return true;
}

/* False: there is no memory. */
static bool collect_callers(struct answer *answer)
{
	const struct export_input *input = &answer->input;
	const struct table *table = input->table;
	struct caller callers[CALLERS];
	bool good;

	answer->callers_end = budget_resize(table->budget, NULL, 0, size_of_ends(answer));
	good = answer->callers_end;
	for (size_t i = 0; good && i < table->count && !stop_now(answer->options.stop); i++) {
		size_t count = query_callers(input->query, input->question, table->rows[i].function, callers, CALLERS);

		for (size_t k = 0; good && k < count; k++)
			good = add_caller(answer, &callers[k]);
		answer->callers_end[i] = answer->caller_count;
	}
	return good;
}

static void *collect(const struct export_input *input, const void *options)
{
	struct answer *answer = util_alloc(sizeof(*answer));

	answer->input = *input;
	memcpy(&answer->options, options, sizeof(answer->options));
	collect_facts(answer);
	collect_cpus(answer);
	answer->lines = row_lines_new(input->table, input->inputs->symbols);
	answer->starved = answer->starved || !answer->lines || !collect_callers(answer);
	return answer;
}

static void free_answer(void *collected)
{
	struct answer *answer = collected;
	struct budget *budget = answer->input.table->budget;

	budget_free(budget, answer->callers, answer->caller_room * sizeof(*answer->callers));
	budget_free(budget, answer->callers_end, answer->callers_end ? size_of_ends(answer) : 0);
	row_lines_free(answer->lines, answer->input.table);
	free(answer->cpus);
	free(answer->facts);
	free(answer);
}

static bool write_answer(void *collected, const char *name, FILE *to, struct export_result *result,
	char **error)
{
	const struct answer *answer = collected;
	const struct table *table = answer->input.table;
	struct json_writer writer;

	json_go_on(&writer, to, answer->facts);
	if (answer->options.more)
		answer->options.more(answer->options.context, &writer);
	put_cpus(&writer, answer);
	json_member_text(&writer, "by", group_words[answer->input.question->by]);
	json_begin_list(&writer, answer->input.question->by == GROUP_FUNCTION ? "functions" : "groups");
	for (size_t i = 0; !answer->starved && i < table->count && !stop_now(answer->options.stop); i++)
		put_function(&writer, answer, i);
	json_end_list(&writer);
	writer.failed |= answer->starved;
	result->weight = table->weight;
	result->samples = table->samples;
	return json_end_object(&writer) ||
		util_fail(error, "%s: not written: no memory for it; give more by --memory, or take "
			"fewer --seconds", name);
}

const struct export_format export_json = {
	.name = "json", .ending = ".json", .about = "the table of the report, with callers and books",
	.collect = collect, .write = write_answer, .free = free_answer,
};
