/* SPDX-License-Identifier: MIT */
/* The code of one function with its heat: asked for once the profile is there, as text and as JSON. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/annotation.h"
#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/export/json_writer.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/stop.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum { LOOK_MS = 20, CODE_MS = 30000 };	/* between two looks whether it is whole; the longest wait for code and lines */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The heaviest function of that name; else the heaviest with it in its name. FUNCTION_NONE: none was sampled. */
static uint32_t find_function(const struct report *report)
{
	const struct symbols *symbols = report->epoch->inputs.symbols;
	const struct table *table = report->profile->table;
	uint32_t found = FUNCTION_NONE;
	uint64_t most = 0;
	bool exact = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];
		const struct function *function = symbols_get(symbols, row->function);
		bool same = strcmp(function->name, report->request.annotate) == 0;

		if (!function->known || (!same && (exact || !strstr(function->name, report->request.annotate))))
			continue;
		if (found == FUNCTION_NONE || (same && !exact) || row->self > most) {
			found = row->function;
			most = row->self;
			exact = same;
		}
	}
	return found;
}

static void ask(struct report *report, uint32_t function)
{
	struct annotation_request request;

	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &annotation_kind;
	request.request.excerpt = report->asked_excerpt;
	request.request.pause_ms = LOOK_MS;
	request.function = tree_name(symbols_get(report->epoch->inputs.symbols, function), report->epoch->kernel);
	subscription_ask(report->subscription, &request.request);
	if (!report->hurried)
		report->deadline = util_now() + (uint64_t)CODE_MS * NS_PER_MS;
}

bool report_find_annotation(struct report *report)
{
	struct answer *answer;
	uint32_t function;

	if (!report->request.annotate)
		return true;
	if (report->asked_for != ASKED_CODE) {
		report->asked_for = ASKED_CODE;
		function = report->request.by == GROUP_FUNCTION || report->request.by == GROUP_LOCK ?
			find_function(report) : FUNCTION_NONE;
		report->unannotated = function == FUNCTION_NONE;
		if (!report->unannotated)
			ask(report, function);
	}
	if (report->unannotated)
		return true;
	answer = subscription_take(report->subscription);
	if (answer) {
		answer_free((struct answer *)report->annotation);
		report->annotation = (struct annotation *)answer;
	}
	return report->annotation && (!report->annotation->answer.partial || report_is_late(report));
}

/* ---- as text ---- */

/* "  61.20     412 ", or blanks where there is nothing. */
static void print_heat(const struct annotation *annotation, struct annotation_heat heat, FILE *out)
{
	if (heat.weight)
		fprintf(out, "%7.2f %8" PRIu64 "  ", percent(heat.weight, annotation->self.weight), heat.samples);
	else
		fprintf(out, "%16s  ", "");
}

static void print_place(const struct listing *listing, const struct listing_row *row, FILE *out)
{
	const struct listing_place *place = row->place == LISTING_NONE ? NULL : &listing->places[row->place];

	if (place && *place->function)
		fprintf(out, "  [inlined %s, %s:%" PRIu32 "]", place->function, place->file, place->line);
	else if (place)
		fprintf(out, "  [%s:%" PRIu32 "]", place->file, place->line);
}

static void print_source(const struct annotation *annotation, const struct listing_row *row, FILE *out)
{
	const struct listing *listing = annotation->listing;
	const char *text = listing_line(listing, row->line);

	print_heat(annotation, annotation_row(annotation, row), out);
	if (row->line)
		fprintf(out, "%5" PRIu32 "  %s", row->line, text ? text : "");
	else
		fprintf(out, "%5s ", "");
	print_place(listing, row, out);
	fputc('\n', out);
}

static void print_instruction(const struct annotation *annotation, const struct listing_row *row,
	const struct jumps *jumps, FILE *out)
{
	const struct listing_instruction *instruction = &annotation->listing->instructions[row->first];
	char lanes[JUMPS_TEXT];

	print_heat(annotation, annotation->heat[row->first], out);
	fprintf(out, "%5s  %s %" PRIx64 ":  %s", "", jumps_text(jumps, row->first, 0, lanes), instruction->address,
		instruction->text);
	if (instruction->callee)
		fprintf(out, " <%s>", instruction->callee);
	fputc('\n', out);
}

static void print_head(const struct report *report, FILE *out)
{
	const struct annotation *annotation = report->annotation;
	const struct function *function = symbols_get(report->epoch->inputs.symbols, annotation->function);
	const struct listing *listing = annotation->listing;

	fprintf(out, "\n%7s %8s  %s  %s", "HEAT%", "SAMPLES", function->name, function->object);
	if (listing && listing->first)
		fprintf(out, "  %s:%" PRIu32, listing->name, listing->first);
	fprintf(out, "  self %.2f%% of all\n", percent(annotation->self.weight, annotation->weight));
	if (*annotation->lacks)
		fprintf(out, "(%s)\n", annotation->lacks);
}

void report_annotation_text(const struct report *report, FILE *out)
{
	const struct annotation *annotation = report->annotation;
	struct listing_row *rows;
	struct jumps jumps;
	size_t count;

	if (!annotation || annotation->function == FUNCTION_NONE)
		return;
	print_head(report, out);
	if (annotation->listing) {
		rows = listing_rows(annotation->listing, LISTING_BOTH, &count);
		jumps = jumps_new(annotation->listing);
		for (size_t i = 0; i < count && !stop_now(session_given_up(report->session)); i++)
			if (rows[i].source)
				print_source(annotation, &rows[i], out);
			else
				print_instruction(annotation, &rows[i], &jumps, out);
		jumps_clear(&jumps);
		free(rows);
	}
	if (annotation->elsewhere.weight)
		fprintf(out, "(%.2f%% of it at addresses that are not shown)\n",
			percent(annotation->elsewhere.weight, annotation->self.weight));
}

/* ---- as JSON ---- */

static void add_address(cJSON *object, const char *name, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	cJSON_AddStringToObject(object, name, text);
}

static void add_heat(cJSON *object, struct annotation_heat heat)
{
	json_add_count(object, "weight", heat.weight);
	json_add_count(object, "samples", heat.samples);
}

static cJSON *instruction_json(const struct annotation *annotation, size_t index)
{
	const struct listing *listing = annotation->listing;
	const struct listing_instruction *instruction = &listing->instructions[index];
	cJSON *object = cJSON_CreateObject();

	add_address(object, "address", instruction->address);
	json_add_count(object, "size", instruction->size);
	cJSON_AddStringToObject(object, "text", instruction->text);
	add_heat(object, annotation->heat[index]);
	if (instruction->line)
		json_add_count(object, "line", instruction->line);
	if (instruction->place != LISTING_NONE) {
		const struct listing_place *place = &listing->places[instruction->place];

		if (*place->function)
			cJSON_AddStringToObject(object, "inlined", place->function);
		cJSON_AddStringToObject(object, "file", place->file);
		json_add_count(object, "file_line", place->line);
	}
	if (instruction->target != LISTING_NONE)
		add_address(object, "jumps_to", instruction->goes);
	if (instruction->callee)
		cJSON_AddStringToObject(object, "callee", instruction->callee);
	return object;
}

static cJSON *line_json(const struct annotation *annotation, uint32_t line)
{
	const char *text = listing_line(annotation->listing, line);
	cJSON *object = cJSON_CreateObject();

	json_add_count(object, "line", line);
	if (text)
		cJSON_AddStringToObject(object, "text", text);
	add_heat(object, annotation_line(annotation, line));
	return object;
}

static void add_listing(cJSON *object, const struct annotation *annotation)
{
	const struct listing *listing = annotation->listing;
	cJSON *lines = cJSON_AddArrayToObject(object, "lines"), *code = cJSON_AddArrayToObject(object, "instructions");
	uint32_t hottest = annotation_hottest(annotation);

	cJSON_AddStringToObject(object, "file", listing->file);
	add_address(object, "low", listing->low);
	add_address(object, "high", listing->high);
	add_address(object, "bias", annotation->bias);
	if (hottest != LISTING_NONE)
		add_address(object, "hottest", listing->instructions[hottest].address);
	for (uint32_t i = 0; i < listing->line_count; i++)
		cJSON_AddItemToArray(lines, line_json(annotation, listing->first + i));
	for (size_t i = 0; i < listing->count; i++)
		cJSON_AddItemToArray(code, instruction_json(annotation, i));
}

void report_annotation_json(const struct report *report, struct json_writer *writer)
{
	const struct annotation *annotation = report->annotation;
	const struct function *function;
	cJSON *object;

	if (!annotation || annotation->function == FUNCTION_NONE)
		return;
	function = symbols_get(report->epoch->inputs.symbols, annotation->function);
	object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	add_heat(object, annotation->self);
	json_add_count(object, "elsewhere", annotation->elsewhere.weight);
	cJSON_AddStringToObject(object, "lacks", annotation->lacks);
	if (annotation->listing)
		add_listing(object, annotation);
	json_member(writer, "annotation", object);
}
