/* SPDX-License-Identifier: MIT */
/* Two recordings whose frames do not fit in memory: what their picture shows alone is true, and nothing is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cjson/cJSON.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/diff/diff_request.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

/* Each caller calls each leaf: more frames than may stand alone. */
enum { CALLERS = 300, LEAVES = 300, KINDS = 97, SIZE = 0x100, HEAVY = 20, LEVEL_LEAF = 2 };
#define CALLER_AT 0x100000u
#define LEAF_AT 0x200000u

enum side { BEFORE, AFTER };

/* How often a caller was seen with a leaf. */
static uint32_t weight_of(enum side side, uint32_t caller, uint32_t leaf)
{
	static const uint32_t weights[][2] = {
		{ HEAVY, 0 }, { 0, HEAVY }, { HEAVY, 1 }, { 1, HEAVY }, { 1, 0 }, { 0, 1 }, { HEAVY, HEAVY },
	};
	uint32_t kind = (caller * LEAVES + leaf) % KINDS;

	return kind < sizeof(weights) / sizeof(*weights) ? weights[kind][side] : 1;
}

static uint64_t weight_of_all(enum side side)
{
	uint64_t sum = 0;

	for (uint32_t caller = 0; caller < CALLERS; caller++)
		for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
			sum += weight_of(side, caller, leaf);
	return sum;
}

static void put_symbols(struct fake_guest *guest, uint32_t address, uint32_t count, const char *form)
{
	for (uint32_t i = 0; i < count; i++) {
		char *name = util_format(form, i);

		fake_guest_symbol(guest, address + i * SIZE, SIZE, name);
		free(name);
	}
}

static const char *record(const char *name, enum side side)
{
	struct fake_guest *guest = fake_guest_new(scratch_path("port"));

	fake_guest_facts(guest, NULL, 0);
	put_symbols(guest, CALLER_AT, CALLERS, "caller%u");
	put_symbols(guest, LEAF_AT, LEAVES, "leaf%u");
	fake_guest_status(guest, true);
	for (uint32_t caller = 0; caller < CALLERS; caller++)
		for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
			if (weight_of(side, caller, leaf))
				fake_guest_sample(guest, 0, weight_of(side, caller, leaf), LEAF_AT + leaf * SIZE + 8,
					CALLER_AT + caller * SIZE + 8);
	fake_guest_status(guest, false);
	fake_guest_counts(guest);
	recordings_write(scratch_path(name), guest->packets);
	fake_guest_free(guest);
	unlink(scratch_path("port"));
	return scratch_path(name);
}

/* The data of a page. */
static cJSON *data_of(const char *path)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	FILE *file = fopen(path, "r");
	char *text = NULL, *data;
	size_t room = 0;
	cJSON *json;

	assert_non_null(file);
	assert_true(getdelim(&text, &room, 0, file) > 0);
	fclose(file);
	data = strstr(text, begin);
	assert_non_null(data);
	json = cJSON_Parse(data + strlen(begin));
	assert_non_null(json);
	free(text);
	return json;
}

static cJSON *compare(const char *before, const char *after)
{
	struct diff_request request = diff_request_default;
	char *error = NULL;

	request.memory = BUDGET_LEAST_MIB;
	request.file = scratch_path("x.html");
	if (diff_request_do(&request, before, after, &error) != DIFF_DONE)
		fail_msg("%s", error);
	return data_of(request.file);
}

struct cell {
	uint32_t level;
	const char *name;
	uint64_t weights[2];		/* of the cell itself */
};

/* In fresh memory. The root is the first. */
static struct cell *cells_of(const cJSON *data, uint32_t *count)
{
	const cJSON *level = cJSON_GetObjectItem(data, "level"), *function = cJSON_GetObjectItem(data, "function");
	const cJSON *now = cJSON_GetObjectItem(data, "weight"), *before = cJSON_GetObjectItem(data, "before");
	const cJSON *names = cJSON_GetObjectItem(data, "names"), *part = cJSON_GetObjectItem(data, "part_cell");
	struct cell *cells;
	const char **texts;
	uint32_t at = 0;

	*count = (uint32_t)cJSON_GetArraySize(level) + 1;
	cells = util_grow(NULL, *count, sizeof(*cells));
	texts = util_grow(NULL, (size_t)cJSON_GetArraySize(names), sizeof(*texts));
	for (const cJSON *name = names->child; name; name = name->next)
		texts[at++] = name->valuestring;
	cells[0] = (struct cell) { .name = "" };
	at = 1;
	for (level = level->child, function = function->child; level; level = level->next, function = function->next)
		cells[at++] = (struct cell) { .level = (uint32_t)level->valueint, .name = texts[function->valueint] };
	for (part = part->child, now = now->child, before = before->child; part; part = part->next) {
		cells[part->valueint].weights[AFTER] += (uint64_t)now->valuedouble;
		cells[part->valueint].weights[BEFORE] += (uint64_t)before->valuedouble;
		now = now->next;
		before = before->next;
	}
	free(texts);
	return cells;
}

/* Each leaf that stands alone has its true weights; each heavy one stands alone. Returns how many do. */
static uint32_t check_leaves(const struct cell *cells, uint32_t count)
{
	uint32_t caller = 0, leaf, alone = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (sscanf(cells[i].name, "caller%u", &caller) == 1 || sscanf(cells[i].name, "leaf%u", &leaf) != 1)
			continue;
		assert_int_equal(cells[i].level, LEVEL_LEAF);
		assert_int_equal(cells[i].weights[BEFORE], weight_of(BEFORE, caller, leaf));
		assert_int_equal(cells[i].weights[AFTER], weight_of(AFTER, caller, leaf));
		alone++;
	}
	return alone;
}

static uint32_t heavy_leaves(void)
{
	uint32_t count = 0;

	for (uint32_t caller = 0; caller < CALLERS; caller++)
		for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
			count += weight_of(BEFORE, caller, leaf) == HEAVY || weight_of(AFTER, caller, leaf) == HEAVY;
	return count;
}

static void check(const cJSON *data)
{
	uint64_t weights[2] = { 0 };
	uint32_t count;
	struct cell *cells = cells_of(data, &count);

	for (uint32_t i = 0; i < count; i++)
		for (int side = BEFORE; side <= AFTER; side++)
			weights[side] += cells[i].weights[side];
	assert_int_equal(weights[BEFORE], weight_of_all(BEFORE));
	assert_int_equal(weights[AFTER], weight_of_all(AFTER));
	assert_int_equal(check_leaves(cells, count), heavy_leaves());
	assert_true(cJSON_GetObjectItem(data, "merged")->valueint > CALLERS * LEAVES);
	free(cells);
}

/* Of two recordings, and of a recording and a file that has all frames: a file is not merged while it is read. */
static void what_stands_alone_is_true_on_both_sides(void **state)
{
	char *before = util_format("%s", record("before", BEFORE)), *after = util_format("%s", record("after", AFTER));
	char *folded = util_format("%s", scratch_path("after.folded"));
	FILE *file = fopen(folded, "w");
	cJSON *data;

	(void)state;
	assert_non_null(file);
	for (uint32_t caller = 0; caller < CALLERS; caller++)
		for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
			if (weight_of(AFTER, caller, leaf))
				fprintf(file, "caller%u;leaf%u %u\n", caller, leaf, weight_of(AFTER, caller, leaf));
	assert_int_equal(fclose(file), 0);
	data = compare(before, after);
	check(data);
	cJSON_Delete(data);
	data = compare(before, folded);
	check(data);
	cJSON_Delete(data);
	free(before);
	free(after);
	free(folded);
}

static void a_limit_of_growth_needs_all_frames(void **state)
{
	char *before = util_format("%s", record("old", BEFORE)), *after = util_format("%s", record("new", AFTER));
	struct diff_request request = diff_request_default;
	char *error = NULL;

	(void)state;
	request.memory = BUDGET_LEAST_MIB;
	request.fail_above = "2%";
	request.file = scratch_path("limit.svg");
	assert_int_equal(diff_request_do(&request, before, after, &error), DIFF_FAILED);
	assert_non_null(strstr(error, "--fail-above: not decided: there is no memory for all frames; "));
	assert_int_not_equal(access(request.file, F_OK), 0);
	free(error);
	free(before);
	free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_alone_is_true_on_both_sides),
		cmocka_unit_test(a_limit_of_growth_needs_all_frames),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
