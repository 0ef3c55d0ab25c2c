/* SPDX-License-Identifier: MIT */
/* Compares the numbers on the screen with `report --json` of the same questions. */
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/profile.h"
#include "agent/guest/epoch.h"
#include "agent/query/question/grouping.h"
#include "agent/report/report.h"
#include "tui/terminal/canvas.h"
#include "walk.h"

/* The numbers of one machine, or of all that have told of themselves: functions of one name are one. */
struct numbers {
	cJSON *json[WALK_MACHINES];	/* NULL: it has not told of itself */
	size_t count;
	double weight;			/* of all machines, which have the same rate */
};

/* What is shown of the guest now, or its baseline. */
static cJSON *json_of(struct walk_guest *guest, bool base)
{
	struct report report = { .request = report_default, .epoch = guest->epoch };
	struct profile_request question = { .request.excerpt = fake_excerpt(&guest->session) };
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	cJSON *json;

	if (base) {
		question.request.excerpt.window_ns = question.request.excerpt.base.window_ns;
		question.request.excerpt.zero_ns = question.request.excerpt.base.zero_ns;
		question.request.excerpt.until_ns = question.request.excerpt.base.until_ns;
		question.request.excerpt.back_ns = question.request.excerpt.base.back_ns;
		question.request.excerpt.moved = (uint32_t)question.request.excerpt.base.moved;
	}
	report.status = guest->epoch->status;
	report.profile = (struct profile *)profile_kind.make(&question.request,
		&(struct moment) { .epoch = guest->epoch, .past = true });
	assert_true(report_json(&report, to, NULL));
	fclose(to);
	json = cJSON_Parse(text);
	assert_non_null(json);
	answer_free((struct answer *)report.profile);
	free(text);
	return json;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItem(object, name);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static struct numbers numbers_of(struct walk *walk, bool base)
{
	struct numbers numbers = { .count = walk->machines };

	for (size_t i = 0; i < walk->machines; i++) {
		struct walk_guest *guest = &walk->guests[i];

		if (!guest->epoch->known || (!walk_is_all(walk) && guest != walk_guest(walk)))
			continue;
		numbers.json[i] = json_of(guest, base);
		numbers.weight += number(numbers.json[i], "weight");
	}
	return numbers;
}

static void numbers_clear(struct numbers *numbers)
{
	for (size_t i = 0; i < numbers->count; i++)
		cJSON_Delete(numbers->json[i]);
}

static const cJSON *rows_of(const cJSON *json)
{
	const cJSON *functions = cJSON_GetObjectItem(json, "functions");

	return functions ? functions : cJSON_GetObjectItem(json, "groups");
}

static const cJSON *function_of(const cJSON *json, const char *name)
{
	const cJSON *function;

	cJSON_ArrayForEach(function, rows_of(json))
		if (strcmp(cJSON_GetObjectItem(function, "name")->valuestring, name) == 0)
			return function;
	return NULL;
}

/* The function's weight of this kind, "self" or "total", on all machines. */
static double weight_of(const struct numbers *numbers, const char *name, const char *kind)
{
	double sum = 0;

	for (size_t i = 0; i < numbers->count; i++) {
		const cJSON *function = numbers->json[i] ? function_of(numbers->json[i], name) : NULL;

		sum += function ? number(function, kind) : 0;
	}
	return sum;
}

/* ---- rows ---- */

static bool is_near(double told, double share)
{
	return told - share < 0.006 && share - told < 0.006;
}

/* What is on the screen, and what it is compared with. */
struct shown {
	struct numbers now, base;	/* base: only if there is a baseline */
};

/* 100 % is one CPU, all the time. 0: the time is not known. */
static double usage_of(uint64_t time, uint64_t from, uint64_t to)
{
	return to > from ? (double)time / (double)(to - from) : 0;
}

static double share_of(const struct numbers *numbers, const char *name, const char *kind)
{
	return numbers->weight > 0 ? 100 * weight_of(numbers, name, kind) / numbers->weight : 0;
}

/* "new  +9.87": the row's second text. Returns what is behind it. */
static const char *check_change(const struct walk *walk, const struct shown *shown, const char *text, const char *name,
	double now, double base)
{
	const char *at = text + strcspn(text, "+-");
	char *end;
	double told = strtod(at, &end);
	bool both = shown->now.weight > 0 && shown->base.weight > 0;
	bool gone = !weight_of(&shown->now, name, "self"), appeared = !weight_of(&shown->base, name, "self");

	if (!is_near(told, now - base))
		walk_fault(walk, "another change than the reports'", name);
	if (!strncmp(text + strspn(text, " "), "new", 3) != (both && appeared && !gone) ||
			!strncmp(text + strspn(text, " "), "gone", 4) != (both && gone && !appeared))
		walk_fault(walk, "new or gone, or not", name);
	return end;
}

/* Checks the row of the screen with this function: self, its change if there is a baseline, total. */
static void check_function(const struct walk *walk, const struct shown *shown, const char *text, const char *name)
{
	const struct model *model = &walk->models[walk->page];
	const struct table *table = model->table.functions->table;
	const struct table_base *base = table->base;
	bool threads = model->view == WALK_THREADS;
	double usage = threads ? usage_of(table->time, table->from, table->to) : 1, total;
	double base_usage = threads && base ? usage_of(base->time, base->from, base->to) : 1;
	double now = usage * share_of(&shown->now, name, "self"), self;
	const char *at = text + strspn(text, "> ~");
	char *end;

	if (threads && !table->time)
		return;
	self = strtod(at, &end);
	if (!is_near(self, now))
		walk_fault(walk, threads ? "another use of CPUs than the report's" :
			"another share than the report's", text);
	at = end;
	if (base && (!threads || base_usage > 0))
		at = check_change(walk, shown, end, name, now, base_usage * share_of(&shown->base, name, "self"));
	if (threads)
		return;
	total = strtod(at + strspn(at, " ~"), NULL);
	if (!is_near(total, share_of(&shown->now, name, "total")))
		walk_fault(walk, "another share than the report's", text);
}

/* Checks the function's row on the screen. False: it is not on the screen. */
static bool check_shown(const struct walk *walk, const struct shown *shown, const char *name)
{
	int heads = walk_heads_row(walk);
	char text[WALK_TEXT];

	if (heads < 0)
		walk_fault(walk, "no heads above the rows for", name);
	for (int row = heads + 1; row < WALK_TALL - 3; row++) {
		const char *at;

		walk_row_text(walk, row, text);
		at = strstr(text, name);
		if (!at || at[-1] != ' ' || at[strlen(name)] != ' ')
			continue;
		check_function(walk, shown, text, name);
		return true;
	}
	return false;
}

/* True: a machine before this one has the function, too. */
static bool is_told(const struct numbers *numbers, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++)
		if (numbers->json[i] && function_of(numbers->json[i], name))
			return true;
	return false;
}

/* Returns how many of these functions are shown, without those of `but`. */
static size_t check_all_shown(struct walk *walk, const struct shown *shown, const struct numbers *numbers,
	const struct numbers *but)
{
	size_t all = 0;

	for (size_t i = 0; i < numbers->count; i++) {
		const cJSON *function;

		cJSON_ArrayForEach(function, rows_of(numbers->json[i])) {
			const char *name = cJSON_GetObjectItem(function, "name")->valuestring;
			bool hidden = walk_model(walk)->no_idle && strcmp(name, "[idle]") == 0;

			if (is_told(numbers, i, name) || (but && is_told(but, but->count, name)))
				continue;
			all += !hidden;
			if (check_shown(walk, shown, name) == hidden)
				walk_fault(walk, hidden ? "idle time is shown" : "a function of the "
					"report is not shown", name);
		}
	}
	return all;
}

static void check_functions(struct walk *walk, const struct shown *shown)
{
	size_t all = check_all_shown(walk, shown, &shown->now, NULL);

	all += check_all_shown(walk, shown, &shown->base, &shown->now);
	if (all != model_rows(walk_model(walk)).count)
		walk_fault(walk, "functions are shown that no report has", "");
}

/* ---- CPUs ---- */

/* "cpu0 k ... 62% u ... 21% i 17%", or the machine in place of the CPU. */
static void check_line(const struct walk *walk, const char *label, const double modes[MODES])
{
	double sum = modes[0] + modes[1] + modes[2];
	const char *at = NULL;
	char text[WALK_TEXT];

	for (int row = 1; row < WALK_TALL / 2 && !at; row++) {
		walk_row_text(walk, row, text);
		at = strstr(text, label) == text ? text : NULL;
	}
	if (!at)
		walk_fault(walk, "a CPU has no line", label);
	for (int mode = 0; sum > 0 && mode < MODES && (at = strchr(at + 1, '%')); mode++) {
		double share = 100 * modes[mode] / sum, told = strtod(at - 3, NULL);

		if (told - share > 0.51 || share - told > 0.51)
			walk_fault(walk, "another share of a CPU than the report's", text);
	}
}

static void check_cpus(struct walk *walk, const cJSON *json, size_t machine)
{
	static const char *const names[MODES] = { "kernel", "user", "idle" };
	double all[MODES] = { 0 };
	const cJSON *cpu;
	char label[64];

	cJSON_ArrayForEach(cpu, cJSON_GetObjectItem(json, "cpus")) {
		double modes[MODES];

		for (int mode = 0; mode < MODES; mode++) {
			modes[mode] = number(cpu, names[mode]);
			all[mode] += modes[mode];
		}
		snprintf(label, sizeof(label), " cpu%.0f ", number(cpu, "cpu"));
		if (!walk_is_all(walk))
			check_line(walk, label, modes);
	}
	snprintf(label, sizeof(label), " %zu guest%zu ", machine + 1, machine + 1);
	if (walk_is_all(walk))
		check_line(walk, label, all);
}

/* Checks answers to the present question only: a new request takes a while to come through. */
void walk_check_numbers(struct walk *walk)
{
	struct shown shown = { .base.count = 0 };

	if (walk->canvas->rows != WALK_TALL || walk_model(walk)->cover ||
			(!walk_is_all(walk) && !walk_guest(walk)->epoch->known))
		return;
	for (int i = 0; i < 3; i++) {
		walk->now += NS_PER_SECOND / 5;
		for (size_t k = 0; k < walk->machines; k++)
			guest_give(walk, &walk->guests[k]);
		walk_step(walk);
		walk_draw(walk);
	}
	shown.now = numbers_of(walk, false);
	if (walk_model(walk)->base.until_ns)
		shown.base = numbers_of(walk, true);
	/* Over all, rows of two machines may have one name. */
	if (!walk_is_tree(walk_model(walk)->view) &&
			(!walk_is_all(walk) || !grouping_is_by_who(walk_model(walk)->table.by)))
		check_functions(walk, &shown);
	for (size_t i = 0; i < shown.now.count; i++)
		if (shown.now.json[i])
			check_cpus(walk, shown.now.json[i], i);
	numbers_clear(&shown.now);
	numbers_clear(&shown.base);
}
