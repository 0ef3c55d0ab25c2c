/* SPDX-License-Identifier: MIT */
/* The screen in each of its states. Each state has a golden file, tests/golden/state_NAME.txt. */
#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/hand_picture.h"
#include "tests/unit/fakes/picture.h"
#include "tests/unit/fakes/sheet.h"
#include "tests/unit/fakes/stage.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"

static const uint64_t second = 1000000000;
static struct symbols *symbols;
static uint32_t functions[HAND_FUNCTIONS];

enum { MANY = 100000, NAMED = 8 };
static struct symbols *many_symbols, *long_symbols, *wide_symbols;
static uint32_t many[MANY], long_names[NAMED], wide_names[NAMED];

/* ---- states of guest, QEMU and connection ---- */

static void off(struct picture *picture)
{
	picture->vitals->running = false;
	picture->vitals->achieved = 0;
}

static void paused(struct picture *picture)
{
	picture->vitals->vm = VM_PAUSED;
}

static void timer(struct picture *picture)
{
	picture->vitals->sampler = SAMPLER_TIMER;
	picture->vitals->cpus[3].sampler = false;
}

static void empty(struct picture *picture)
{
	hand_rows(picture, symbols, functions, 0);
	for (uint32_t i = 0; i < picture->vitals->cpu_count; i++)
		picture->vitals->cpus[i].series = (struct cpu_series) { .missed = 0 };
}

static void off_and_empty(struct picture *picture)
{
	off(picture);
	empty(picture);
}

static void filtered(struct picture *picture)
{
	picture->functions->table->rows[0] = picture->functions->table->rows[2];
	picture->functions->table->count = 1;
}

static void filtered_away(struct picture *picture)
{
	hand_rows(picture, symbols, functions, 0);
	picture->functions->table->samples = 0;
}

static void idle(struct picture *picture)
{
	picture->functions->table->rows[0] = picture->functions->table->rows[7];
	picture->functions->table->rows[0].self = picture->functions->table->weight;
	picture->functions->table->rows[0].total = picture->functions->table->weight;
	picture->functions->table->count = 1;
	picture->functions->table->mode[MODE_KERNEL] = picture->functions->table->mode[MODE_USER] = 0;
	for (uint32_t i = 0; i < picture->vitals->cpu_count; i++)
		picture->vitals->cpus[i].series = (struct cpu_series) { .mode = { [MODE_IDLE] = 9970 } };
}

static void few_samples(struct picture *picture)
{
	struct table *table = picture->functions->table;

	table->weight = table->samples = 0;
	for (size_t i = 0; i < table->count; i++) {
		table->rows[i].self = table->rows[i].samples = 8 - i;
		table->rows[i].total = 9;
		table->weight += 8 - i;
	}
	table->samples = table->weight;
}

static void lost(struct picture *picture)
{
	picture->vitals->lost_guest = 123456;
	picture->vitals->lost_host = 789;
	picture->vitals->lost_before = 10577;
	picture->vitals->skipped_bytes = 4096;
	picture->vitals->ring_fill = 0.97;
	picture->vitals->cpus[1].series.missed = 10000;
	picture->vitals->achieved = 471.6;
}

static void disconnected(struct picture *picture)
{
	off(picture);
	picture->vitals->link = LINK_LOST;
}

static void qemu_gone(struct picture *picture)
{
	disconnected(picture);
	picture->vitals->vm = VM_GONE;
}

static void panicked(struct picture *picture)
{
	picture->vitals->vm = VM_PANICKED;
}

static void qemu_hangs(struct picture *picture)
{
	picture->vitals->vm = VM_HANGS;
	picture->vitals->link = LINK_SILENT;
	off(picture);
}

static void silent(struct picture *picture)
{
	picture->vitals->link = LINK_SILENT;
	off(picture);
}

static void kept(struct picture *picture)
{
	off(picture);
	silent(picture);
	picture->vitals->kept = KEPT_ON;
}

static void replay(struct picture *picture)
{
	picture->vitals->vm = VM_UNKNOWN;
	picture->vitals->play = (struct play_state) { .there = true, .playing = true, .speed = 2, .at = 83 * second,
		.end = 600 * second, .boot = 1, .boots = 3 };
}

static void shut_down(struct picture *picture)
{
	disconnected(picture);
	picture->vitals->vm = VM_SHUTDOWN;
}

/* The answers before the guest has told of itself: they hold no more than this. */
static void unknown(struct picture *picture, enum link_state link)
{
	struct function_table *none = util_alloc(sizeof(*none));
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	vitals->answer.kind = &vitals_kind;
	vitals->link = link;
	vitals->vm = VM_RUNNING;
	none->answer.kind = &function_table_kind;
	none->selected = FUNCTION_NONE;
	vitals_free(picture->vitals);
	function_table_free(picture->functions);
	*picture = (struct picture) { vitals, none };
}

static void no_port(struct picture *picture)
{
	unknown(picture, LINK_NO_PORT);
}

static void connecting(struct picture *picture)
{
	unknown(picture, LINK_CONNECTING);
}

static void taken(struct picture *picture)
{
	unknown(picture, LINK_TAKEN);
}

static void not_opened(struct picture *picture)
{
	unknown(picture, LINK_NOT_OPENED);
}

static void no_hello(struct picture *picture)
{
	unknown(picture, LINK_NO_HELLO);
}

static void noted(struct picture *picture)
{
	picture->vitals->now = 180 * second;		/* remarks are shown in turn: at this time, the first one */
	strcpy(picture->vitals->note, "1234567 sampling ticks not kept: memory is full\n89 samples without their "
		"stack: memory is full\n3 programs have no names: their files are not beside the "
		"kernel");
}

static void cpus_64(struct picture *picture)
{
	hand_cpus(picture, 64);
}

static void cpus_1024(struct picture *picture)
{
	hand_cpus(picture, 1024);
}

static void functions_100000(struct picture *picture)
{
	hand_rows(picture, many_symbols, many, MANY);
}

static void names_long(struct picture *picture)
{
	hand_rows(picture, long_symbols, long_names, NAMED);
}

static void names_wide(struct picture *picture)
{
	hand_rows(picture, wide_symbols, wide_names, NAMED);
}

/* ---- the states ---- */

static const struct state {
	const char *name;
	void (*make)(struct picture *picture);
	const char *keys;		/* pressed when the answers are there; '\r' is Enter */
} states[] = {
	{ "live", NULL, "" },
	{ "selected", NULL, "jjjj" },
	{ "timer", timer, "" },
	{ "off", off, "" },
	{ "off_and_empty", off_and_empty, "" },
	{ "paused", paused, "" },
	{ "frozen", NULL, "Z" },
	{ "zeroed", NULL, "z" },
	{ "filtered", filtered, "\\alloc cpu:1 mode:kernel\r" },
	{ "filtered_and_empty", filtered_away, "\\thread:nosuch\r" },
	{ "empty", empty, "" },
	{ "idle", idle, "" },
	{ "few_samples", few_samples, "" },
	{ "lost", lost, "" },
	{ "disconnected", disconnected, "" },
	{ "qemu_gone", qemu_gone, "" },
	{ "qemu_hangs", qemu_hangs, "" },
	{ "panicked", panicked, "" },
	{ "silent", silent, "" },
	{ "shut_down", shut_down, "" },
	{ "no_port", no_port, "" },
	{ "connecting", connecting, "" },
	{ "taken", taken, "" },
	{ "not_opened", not_opened, "" },
	{ "no_hello", no_hello, "" },
	{ "noted", noted, "" },
	{ "cpus_64", cpus_64, "" },
	{ "cpus_1024", cpus_1024, "" },
	{ "functions_100000", functions_100000, "G" },
	{ "names_long", names_long, "" },
	{ "names_wide", names_wide, "" },
	{ "without_idle", NULL, "i" },
	{ "kept", kept, "" },
	{ "replay", replay, "" },
	{ "help", NULL, "?" },
	{ "searching", NULL, "/alloc" },
	{ "filtering", NULL, "\\cpu:x" },
	{ "failed", NULL, "\\cpu:x\r" },
};

static void test_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct picture *picture = hand_picture(symbols, functions);
		char *golden = util_format("state_%s", states[i].name);
		struct stage stage;

		if (states[i].make)
			states[i].make(picture);
		stage_raise(&stage, picture);
		stage_type(&stage, states[i].keys);
		stage.now += 4 * second;		/* the message has gone */
		screen_step(stage.screen, stage.now);
		sheet_check(&stage, golden);
		stage_strike(&stage);
		free(golden);
	}
}

/* Without a recording, the keys of the player do nothing. With one, SPACE plays it and orders nothing from a guest. */
static void test_keys_of_a_recording(void **state)
{
	static const struct { const char *keys; struct play play; } rows[] = {
		{ " ", { PLAY_PAUSE, 0 } }, { "f", { PLAY_FASTER, 0 } }, { "F", { PLAY_SLOWER, 0 } },
		{ "o", { PLAY_STEP, 0 } }, { "(", { PLAY_BY, -10000000000 } },
		{ ")", { PLAY_BY, 10000000000 } }, { "r", { PLAY_NEXT_BOOT, 0 } },
		{ "R", { PLAY_PREVIOUS_BOOT, 0 } }, { "t1:30\r", { PLAY_TO, 90000000000 } },
		{ "t90\r", { PLAY_TO, 90000000000 } }, { "t1:00:00.5\r", { PLAY_TO, 3600500000000 } },
		{ "t-30\r", { PLAY_BY, -30000000000 } }, { "t+1:00\r", { PLAY_BY, 60000000000 } },
	};
	static const char *const bad[] = { "t\r", "t1:\r", "t:1\r", "t1:2:3:4\r", "tx\r", "t1x\r", "t--1\r", "t1e3\r" };
	struct picture *picture = hand_picture(symbols, functions);
	struct stage stage;

	(void)state;
	replay(picture);
	stage_raise(&stage, picture);
	stage_type(&stage, "f");
	assert_int_equal(stage.session.plays, 0);
	stage.config.keys.replay = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		stage_type(&stage, rows[i].keys);
		assert_int_equal(stage.session.plays, i + 1);
		assert_int_equal(stage.session.played.kind, rows[i].play.kind);
		assert_int_equal(stage.session.played.ns, rows[i].play.ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		stage_type(&stage, bad[i]);
		stage_holds(&stage, "not a time; give 90, 1:30", true);
	}
	assert_int_equal(stage.session.plays, sizeof(rows) / sizeof(*rows));
	assert_int_equal(stage.session.runs, 0);
	stage_strike(&stage);
}

static void test_reset(void **state)
{
	struct picture *picture = hand_picture(symbols, functions);
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_picture(symbols, functions));
	stage_press(&stage, 'Z');
	empty(picture);
	picture->vitals->now = 2 * second;
	stage_show(&stage, picture);
	sheet_check(&stage, "state_reset");
	stage_strike(&stage);
}

/* Advice is of use: a longer window is not advised if nothing comes before this one. */
static void test_advice_on_an_empty_table(void **state)
{
	struct picture *picture = hand_picture(symbols, functions);
	struct stage stage;

	(void)state;
	off_and_empty(picture);
	stage_raise(&stage, picture);
	stage_holds(&stage, "SPACE starts it; F7 takes a longer window", true);
	stage_press(&stage, 'z');
	stage_holds(&stage, "SPACE starts it; Esc counts all again.", true);
	picture = hand_picture(symbols, functions);
	off_and_empty(picture);
	picture->vitals->now = 2 * second;			/* reset less than a window ago */
	stage_show(&stage, picture);
	stage_holds(&stage, "Profiling is off in the guest.", true);
	stage_holds(&stage, "SPACE starts it.", true);
	stage_holds(&stage, "longer window", false);
	picture = hand_picture(symbols, functions);
	off_and_empty(picture);
	picture->vitals->unsampled = true;			/* reset long ago, and never profiled since */
	stage_show(&stage, picture);
	stage_holds(&stage, "SPACE starts it.", true);
	stage_holds(&stage, "longer window", false);
	stage_strike(&stage);
}

static void test_before_the_first_picture(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	sheet_check(&stage, "state_first");
	stage_strike(&stage);
}

static void make_symbols(void)
{
	static const char *const wide[NAMED] = {
		"名前", "関数の名前がとても長いのでどの欄にも収まらないはずである_という試験用の関数",
		"a名b前c", "größe_straße", "cafe\xcc\x81_decomposed", "emoji_👩‍💻_🏴", "한국어_함수",
		"\xd8\xa7\xd9\x84_right_to_left",
	};
	char (*text)[512] = calloc(MANY, sizeof(*text));
	const char **names = calloc(MANY, sizeof(*names));

	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(*text), "function_%06d", i);
		names[i] = text[i];
	}
	many_symbols = hand_kernel(names, MANY, many);
	for (int i = 0; i < NAMED; i++) {
		memset(text[i], 'a' + i, 500);
		text[i][500] = '\0';
		for (int j = 10; j < 500; j += 10 + i)
			text[i][j] = '_';
	}
	long_symbols = hand_kernel(names, NAMED, long_names);
	wide_symbols = hand_kernel(wide, NAMED, wide_names);
	symbols = hand_symbols(functions);
	free(names);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_keys_of_a_recording),
		cmocka_unit_test(test_advice_on_an_empty_table),
		cmocka_unit_test(test_before_the_first_picture),
	};
	int failed;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	make_symbols();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	symbols_free(many_symbols);
	symbols_free(long_symbols);
	symbols_free(wide_symbols);
	symbols_free(symbols);
	return failed;
}
