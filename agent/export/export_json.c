/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/question/grouping.h"
#include "agent/query/stop.h"
#include "export_json.h"
#include "json_writer.h"

enum { CALLERS = 8 };

/* Copies nothing of the input. */
struct answer {
	struct export_input input;
	struct json_options options;
};

static const char *const mode_names[MODES] = { "kernel", "user", "idle" };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_cpus(struct json_writer *writer, const struct answer *answer)
{
	uint32_t count = answer->options.cpus;
	struct cpu_series *series = calloc(count + 1, sizeof(*series));

	json_begin_list(writer, "cpus");
	if (series)
		query_cpus(answer->input.query, answer->input.question, series, count);
	for (uint32_t i = 0; series && i < count; i++) {
		cJSON *row = cJSON_CreateObject();

		json_add_count(row, "cpu", i);
		cJSON_AddBoolToObject(row, "sampler", answer->options.set_aside == i);
		for (int mode = 0; mode < MODES; mode++)
			json_add_count(row, mode_names[mode], series[i].mode[mode]);
		json_add_count(row, "missed", series[i].missed);
		json_row(writer, row);
	}
	json_end_list(writer);
	free(series);
}

static void add_cpu_list(cJSON *function, const struct table *table, const struct row *row,
	uint32_t cpu_count)
{
	cJSON *cpus = cJSON_AddArrayToObject(function, "cpus");

	for (uint32_t i = 0; i < cpu_count && i < 64 * table->words; i++)
		if (row->cpus[i / 64] >> i % 64 & 1)
			cJSON_AddItemToArray(cpus, cJSON_CreateNumber(i));
}

static void add_callers(cJSON *function, const struct answer *answer, uint32_t id)
{
	struct caller callers[CALLERS];
	size_t count = query_callers(answer->input.query, answer->input.question, id, callers, CALLERS);
	cJSON *list = cJSON_AddArrayToObject(function, "callers");

	for (size_t i = 0; i < count; i++) {
		cJSON *caller = cJSON_CreateObject();

		cJSON_AddItemToArray(list, caller);
		cJSON_AddStringToObject(caller, "name",
			symbols_get(answer->input.inputs->symbols, callers[i].function)->name);
		json_add_count(caller, "weight", callers[i].weight);
	}
}

static void put_function(struct json_writer *writer, const struct answer *answer, const struct row *row)
{
	struct symbols *symbols = answer->input.inputs->symbols;
	const struct function *function = symbols_get(symbols, row->function);
	const char *line = symbols_line(symbols, row->function);
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	cJSON_AddStringToObject(object, "source", line ? line : "");
	json_add_count(object, "self", row->self);
	json_add_count(object, "total", row->total);
	cJSON_AddNumberToObject(object, "self_percent", percent(row->self, answer->input.table->weight));
	cJSON_AddNumberToObject(object, "total_percent",
		percent(row->total, answer->input.table->weight));
	json_add_count(object, "samples", row->samples);
	add_cpu_list(object, answer->input.table, row, answer->options.cpus);
	add_callers(object, answer, row->function);
	json_row(writer, object);
}

static void *collect(const struct export_input *input, const void *options)
{
	struct answer *answer = util_alloc(sizeof(*answer));

	answer->input = *input;
	memcpy(&answer->options, options, sizeof(answer->options));
	return answer;
}

static bool write_answer(void *collected, const char *name, FILE *to, struct export_result *result,
	char **error)
{
	const struct answer *answer = collected;
	const struct table *table = answer->input.table;
	struct json_writer writer;

	json_begin_object(&writer, to);
	if (answer->options.facts)
		answer->options.facts(answer->options.context, &writer);
	put_cpus(&writer, answer);
	json_member_text(&writer, "by", group_words[answer->input.question->by]);
	json_begin_list(&writer, answer->input.question->by == GROUP_FUNCTION ? "functions" : "groups");
	for (size_t i = 0; i < table->count && !stop_now(answer->options.stop); i++)
		put_function(&writer, answer, &table->rows[i]);
	json_end_list(&writer);
	result->weight = table->weight;
	result->samples = table->samples;
	return json_end_object(&writer) ||
		util_fail(error, "%s: not written: no memory for it; give more by --memory, or take "
			"fewer --seconds", name);
}

const struct export_format export_json = {
	.name = "json", .ending = ".json", .about = "the table of the report, with callers and books",
	.collect = collect, .write = write_answer, .free = free,
};
