/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/writing/csv_text.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "agent/query/stop.h"
#include "agent/query/table.h"
#include "export_csv.h"

/* Besides the lines, it copies nothing of the input. */
struct answer {
	struct export_input input;
	struct csv_options options;
	const char **lines;		/* by row; NULL: there was no memory */
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Their numbers, with spaces: a spreadsheet takes "1-2" for a date. */
static void put_cpus(FILE *to, const struct table *table, const struct row *row)
{
	const char *before = "";

	for (uint32_t i = 0; i < 64 * table->words; i++)
		if (row->cpus[i / 64] >> i % 64 & 1) {
			fprintf(to, "%s%" PRIu32, before, i);
			before = " ";
		}
}

static void put_row(FILE *to, const struct answer *answer, size_t index)
{
	const struct table *table = answer->input.table;
	const struct row *row = &table->rows[index];
	const struct function *function = symbols_get(answer->input.inputs->symbols, row->function);

	csv_text_put(to, function->name);
	putc(',', to);
	csv_text_put(to, function->object);
	putc(',', to);
	csv_text_put(to, answer->lines[index]);
	fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%" PRIu64 ",", row->self, row->total,
		percent(row->self, table->weight), percent(row->total, table->weight), row->samples);
	put_cpus(to, table, row);
	putc('\n', to);
}

static void *collect(const struct export_input *input, const void *options)
{
	struct answer *answer = util_alloc(sizeof(*answer));

	answer->input = *input;
	memcpy(&answer->options, options, sizeof(answer->options));
	answer->lines = row_lines_new(input->table, input->inputs->symbols);
	return answer;
}

static void free_answer(void *collected)
{
	struct answer *answer = collected;

	row_lines_free(answer->lines, answer->input.table);
	free(answer);
}

static bool write_answer(void *collected, const char *name, FILE *to, struct export_result *result, char **error)
{
	const struct answer *answer = collected;
	const struct table *table = answer->input.table;

	if (!answer->lines)
		return util_fail(error, "%s: not written: no memory for it; give more by --memory", name);
	fprintf(to, "%s,object,source,self,total,self_percent,total_percent,samples,cpus\n",
		group_words[answer->input.question->by]);
	for (size_t i = 0; i < table->count && !stop_now(answer->options.stop); i++)
		put_row(to, answer, i);
	result->weight = table->weight;
	result->samples = table->samples;
	return true;
}

const struct export_format export_csv = {
	.name = "csv", .ending = ".csv", .about = "the table of the report, for spreadsheets",
	.collect = collect, .write = write_answer, .free = free_answer,
};

/* ---- row lines ---- */

/* Never 0: an empty table has lines, too. */
static size_t size_of(const struct table *table)
{
	return (table->count + 1) * sizeof(const char *);
}

const char **row_lines_new(const struct table *table, struct symbols *symbols)
{
	const char **lines = budget_resize(table->budget, NULL, 0, size_of(table)), *line;

	for (size_t i = 0; lines && i < table->count; i++) {
		line = symbols_source(symbols, table->rows[i].function);
		lines[i] = line ? line : "";
	}
	return lines;
}

void row_lines_free(const char **lines, const struct table *table)
{
	budget_free(table->budget, lines, lines ? size_of(table) : 0);
}
