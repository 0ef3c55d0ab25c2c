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
#include "agent/report/report.h"
#include "tui/terminal/canvas.h"
#include "walk.h"

/* The numbers of one machine, or of all that have told of themselves: functions of one name are one. */
struct numbers {
	cJSON *json[WALK_MACHINES];	/* NULL: it has not told of itself */
	size_t count;
	double weight;			/* of all machines, which have the same rate */
};

static cJSON *json_of(struct walk_guest *guest)
{
	struct report report = { .request = report_default, .epoch = guest->epoch };
	const struct profile_request question = { .request.excerpt = fake_excerpt(&guest->session) };
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	cJSON *json;

	report.status = guest->epoch->status;
	report.profile = profile_new(&question, &(struct moment) { .epoch = guest->epoch, .past = true });
	assert_true(report_json(&report, to, NULL));
	fclose(to);
	json = cJSON_Parse(text);
	assert_non_null(json);
	profile_free(report.profile);
	free(text);
	return json;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItem(object, name);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static struct numbers numbers_of(struct walk *walk)
{
	struct numbers numbers = { .count = walk->machines };

	for (size_t i = 0; i < walk->machines; i++) {
		struct walk_guest *guest = &walk->guests[i];

		if (!guest->epoch->known || (!walk_is_all(walk) && guest != walk_guest(walk)))
			continue;
		numbers.json[i] = json_of(guest);
		numbers.weight += number(numbers.json[i], "weight");
	}
	return numbers;
}

static void numbers_clear(struct numbers *numbers)
{
	for (size_t i = 0; i < numbers->count; i++)
		cJSON_Delete(numbers->json[i]);
}

static const cJSON *function_of(const cJSON *json, const char *name)
{
	const cJSON *function;

	cJSON_ArrayForEach(function, cJSON_GetObjectItem(json, "functions"))
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

/* Checks the row of the screen with this function: its numbers are the first two in the row. */
static void check_function(const struct walk *walk, const struct numbers *numbers, const char *text,
	const char *name)
{
	const char *at = text + strspn(text, "> ~");
	char *end;
	double self = strtod(at, &end), total = strtod(end + strspn(end, " ~"), NULL);

	if (!is_near(self, 100 * weight_of(numbers, name, "self") / numbers->weight) ||
			!is_near(total, 100 * weight_of(numbers, name, "total") / numbers->weight))
		walk_fault(walk, "another share than the report's", text);
}

/* Checks the function's row on the screen. False: it is not on the screen. */
static bool check_shown(const struct walk *walk, const struct numbers *numbers, const char *name)
{
	char text[WALK_TEXT];

	for (int row = walk_heads_row(walk) + 1; row < WALK_TALL - 3; row++) {
		const char *at;

		walk_row_text(walk, row, text);
		at = strstr(text, name);
		if (!at || at[-1] != ' ' || at[strlen(name)] != ' ')
			continue;
		check_function(walk, numbers, text, name);
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

static void check_functions(struct walk *walk, const struct numbers *numbers)
{
	size_t all = 0;

	for (size_t i = 0; i < numbers->count; i++) {
		const cJSON *function;

		cJSON_ArrayForEach(function, cJSON_GetObjectItem(numbers->json[i], "functions")) {
			const char *name = cJSON_GetObjectItem(function, "name")->valuestring;
			bool hidden = walk_model(walk)->no_idle && strcmp(name, "[idle]") == 0;

			if (is_told(numbers, i, name))
				continue;
			all += !hidden;
			if (check_shown(walk, numbers, name) == hidden)
				walk_fault(walk, hidden ? "idle time is shown" : "a function of the "
					"report is not shown", name);
		}
	}
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
	struct numbers numbers;

	if (walk->canvas->rows != WALK_TALL || walk_model(walk)->help ||
			(!walk_is_all(walk) && !walk_guest(walk)->epoch->known))
		return;
	for (int i = 0; i < 3; i++) {
		walk->now += WALK_SECOND / 5;
		for (size_t k = 0; k < walk->machines; k++)
			guest_give(walk, &walk->guests[k]);
		walk_step(walk);
		walk_draw(walk);
	}
	numbers = numbers_of(walk);
	check_functions(walk, &numbers);
	for (size_t i = 0; i < numbers.count; i++)
		if (numbers.json[i])
			check_cpus(walk, numbers.json[i], i);
	numbers_clear(&numbers);
}
