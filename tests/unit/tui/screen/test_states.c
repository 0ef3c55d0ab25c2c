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
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "sheet.h"
#include "stage.h"

static struct symbols *symbols;
static uint32_t functions[HAND_FUNCTIONS];

enum { HAND_THREADS = 4 };
static uint32_t threads_of[HAND_THREADS];

enum { MANY = 100000, NAMED = 8 };
static struct symbols *many_symbols, *long_symbols, *wide_symbols;
static uint32_t many[MANY], long_names[NAMED], wide_names[NAMED];

/* ---- states of guest, QEMU and connection ---- */

static void off(struct answers *answers)
{
	answers->vitals->running = false;
	answers->vitals->achieved = 0;
}

static void paused(struct answers *answers)
{
	answers->vitals->vm = VM_PAUSED;
}

static void timer(struct answers *answers)
{
	answers->vitals->sampler = SAMPLER_TIMER;
	answers->vitals->cpus[3].sampler = false;
}

static void empty(struct answers *answers)
{
	hand_rows(answers, symbols, functions, 0);
	for (uint32_t i = 0; i < answers->vitals->cpu_count; i++)
		answers->vitals->cpus[i].series = (struct cpu_series) { .missed = 0 };
}

static void off_and_empty(struct answers *answers)
{
	off(answers);
	empty(answers);
}

static void filtered(struct answers *answers)
{
	answers->functions->table->rows[0] = answers->functions->table->rows[2];
	answers->functions->table->count = 1;
}

static void filtered_away(struct answers *answers)
{
	hand_rows(answers, symbols, functions, 0);
	answers->functions->table->samples = 0;
}

static void idle(struct answers *answers)
{
	answers->functions->table->rows[0] = answers->functions->table->rows[7];
	answers->functions->table->rows[0].self = answers->functions->table->weight;
	answers->functions->table->rows[0].total = answers->functions->table->weight;
	answers->functions->table->count = 1;
	answers->functions->table->mode[MODE_KERNEL] = answers->functions->table->mode[MODE_USER] = 0;
	for (uint32_t i = 0; i < answers->vitals->cpu_count; i++)
		answers->vitals->cpus[i].series = (struct cpu_series) { .mode = { [MODE_IDLE] = 9970 } };
}

static void few_samples(struct answers *answers)
{
	struct table *table = answers->functions->table;

	table->weight = table->samples = 0;
	for (size_t i = 0; i < table->count; i++) {
		table->rows[i].self = table->rows[i].samples = 8 - i;
		table->rows[i].total = 9;
		table->weight += 8 - i;
	}
	table->samples = table->weight;
}

static void lost(struct answers *answers)
{
	answers->vitals->lost_guest = 123456;
	answers->vitals->lost_host = 789;
	answers->vitals->lost_before = 10577;
	answers->vitals->skipped_bytes = 4096;
	answers->vitals->ring_fill = 0.97;
	answers->vitals->cpus[1].series.missed = 10000;
	answers->vitals->achieved = 471.6;
}

static void disconnected(struct answers *answers)
{
	off(answers);
	answers->vitals->link = LINK_LOST;
}

static void qemu_gone(struct answers *answers)
{
	disconnected(answers);
	answers->vitals->vm = VM_GONE;
}

static void panicked(struct answers *answers)
{
	answers->vitals->vm = VM_PANICKED;
}

static void qemu_hangs(struct answers *answers)
{
	answers->vitals->vm = VM_HANGS;
	answers->vitals->link = LINK_SILENT;
	off(answers);
}

static void silent(struct answers *answers)
{
	answers->vitals->link = LINK_SILENT;
	off(answers);
}

static void kept(struct answers *answers)
{
	off(answers);
	silent(answers);
	answers->vitals->kept = KEPT_ON;
}

static void replay(struct answers *answers)
{
	answers->vitals->vm = VM_UNKNOWN;
	answers->vitals->play = (struct play_state) { .there = true, .playing = true, .speed = 2,
		.at = 83 * NS_PER_SECOND, .end = 600 * NS_PER_SECOND, .boot = 1, .boots = 3 };
}

static void shut_down(struct answers *answers)
{
	disconnected(answers);
	answers->vitals->vm = VM_SHUTDOWN;
}

/* The answers before the guest has told of itself: they hold no more than this. */
static void unknown(struct answers *answers, enum link_state link)
{
	struct function_table *none = util_alloc(sizeof(*none));
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	vitals->answer.kind = &vitals_kind;
	vitals->link = link;
	vitals->vm = VM_RUNNING;
	none->answer.kind = &function_table_kind;
	none->selected = FUNCTION_NONE;
	vitals_free(answers->vitals);
	function_table_free(answers->functions);
	time_line_free(answers->line);
	*answers = (struct answers) { .vitals = vitals, .functions = none };
}

/* Threads, each with less time than the one before; the ns behind the weights are known. */
static void threads(struct answers *answers)
{
	struct function_table *table = answers->functions;

	table->by = GROUP_THREAD;
	for (size_t i = 0; i < HAND_THREADS; i++) {
		struct row *row = &table->table->rows[i];

		row->function = table->visible[i].function = threads_of[i];
		row->user = i == 1 ? 0 : row->self * (3 - i) / 4;
		row->kernel = row->self - row->user;
		table->visible[i].ran = (struct caller) { functions[i == 0 ? 6 : i], row->self * (9 - i) / 10 };
	}
	table->table->count = table->visible_count = HAND_THREADS;
	table->table->time = 40 * NS_PER_SECOND;
}

static void tree(struct answers *answers)
{
	hand_tree(answers, symbols, functions, false, 0);
}

/* From where the time is spent: spin_lock, and those who called it. */
static void tree_up(struct answers *answers)
{
	hand_tree(answers, symbols, functions, true, 0);
	answers->tree->of = 0;
}

static void baseline(struct answers *answers)
{
	hand_baseline(answers);
}

static void baseline_threads(struct answers *answers)
{
	threads(answers);
	hand_baseline(answers);
}

static void baseline_tree(struct answers *answers)
{
	tree(answers);
	hand_baseline(answers);
}

static void heat(struct answers *answers)
{
	hand_heat(answers, symbols);
}

static void heat_of_a_replay(struct answers *answers)
{
	heat(answers);
	replay(answers);
}

static void tree_of_a_replay(struct answers *answers)
{
	tree(answers);
	replay(answers);
}

/* As all machines give it: each line above is one machine's. */
static void tree_of_all(struct answers *answers)
{
	static const char *const names[] = { "1 web", "2 db" };
	struct vitals *vitals = answers->vitals;

	tree(answers);
	vitals->machine_count = vitals->cpu_count = 2;
	vitals->machines = util_alloc(2 * sizeof(*vitals->machines));
	for (int i = 0; i < 2; i++) {
		vitals->machines[i] = (struct machine_vitals) { .known = true, .vm = VM_RUNNING, .link = LINK_UP,
			.running = true, .cpu_count = 2 };
		strcpy(vitals->machines[i].name, names[i]);
	}
}

static void no_port(struct answers *answers)
{
	unknown(answers, LINK_NO_PORT);
}

static void connecting(struct answers *answers)
{
	unknown(answers, LINK_CONNECTING);
}

static void taken(struct answers *answers)
{
	unknown(answers, LINK_TAKEN);
}

static void not_opened(struct answers *answers)
{
	unknown(answers, LINK_NOT_OPENED);
}

static void no_hello(struct answers *answers)
{
	unknown(answers, LINK_NO_HELLO);
}

static void replay_opening(struct answers *answers)
{
	unknown(answers, LINK_NO_HELLO);
	replay(answers);
}

static void noted(struct answers *answers)
{
	answers->vitals->now = 180 * NS_PER_SECOND;	/* remarks are shown in turn: at this time, the first one */
	strcpy(answers->vitals->note, "1234567 sampling ticks not kept: memory is full\n89 samples without their "
		"stack: memory is full\n3 programs have no names: their files are not beside the "
		"kernel");
}

static void cpus_64(struct answers *answers)
{
	hand_cpus(answers, 64);
}

static void cpus_1024(struct answers *answers)
{
	hand_cpus(answers, 1024);
}

static void functions_100000(struct answers *answers)
{
	hand_rows(answers, many_symbols, many, MANY);
}

static void names_long(struct answers *answers)
{
	hand_rows(answers, long_symbols, long_names, NAMED);
}

static void names_wide(struct answers *answers)
{
	hand_rows(answers, wide_symbols, wide_names, NAMED);
}

/* ---- the states ---- */

static const struct state {
	const char *name;
	void (*make)(struct answers *answers);
	const char *keys;		/* pressed when the answers are there; '\r' is Enter, '\b' is F8 */
} states[] = {
	{ "live", NULL, "" },
	{ "selected", NULL, "jjjj" },
	{ "timer", timer, "" },
	{ "off", off, "" },
	{ "off_and_empty", off_and_empty, "" },
	{ "paused", paused, "" },
	{ "frozen", NULL, "Z" },
	{ "zeroed", NULL, "z" },
	{ "moved", NULL, "z[[" },
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
	{ "replay_opening", replay_opening, "" },
	{ "threads", threads, "5j" },
	{ "baseline", baseline, "\b>j" },
	{ "baseline_threads", baseline_threads, "5\b" },
	{ "baseline_tree", baseline_tree, "2jj\b" },
	{ "baseline_flame", baseline_tree, "3jl\b" },
	{ "tree", tree, "2jj" },
	{ "flame", tree, "3jl" },
	{ "flame_search", tree, "3/alloc\ru" },
	{ "tree_search", tree, "2/alloc\r" },
	{ "tree_frozen", tree, "2jjZ" },
	{ "tree_filtered", tree, "2\\cpu:1 mode:kernel\r" },
	{ "tree_replay", tree_of_a_replay, "2jj" },
	{ "tree_all", tree_of_all, "2jj" },
	{ "flame_frozen", tree, "3jlZ" },
	{ "flame_filtered", tree, "3\\cpu:1 mode:kernel\r" },
	{ "flame_replay", tree_of_a_replay, "3jl" },
	{ "flame_all", tree_of_all, "3jlu" },
	{ "flame_zoomed", tree, "3jl\r" },
	{ "heat", heat, "4kkhhh" },
	{ "heat_range", heat, "4khh\rkkkhh" },
	{ "heat_window", heat, "4khh\rkkkhh\r" },
	{ "heat_frozen", heat, "4Z" },
	{ "heat_filtered", heat, "4\\cpu:1 mode:kernel\r" },
	{ "heat_replay", heat_of_a_replay, "4" },
	{ "heat_empty", NULL, "4" },
	{ "help", NULL, "?" },
	{ "searching", NULL, "/alloc" },
	{ "filtering", NULL, "\\cpu:x" },
	{ "failed", NULL, "\\cpu:x\r" },
}, views[] = {				/* one state of each view; their golden files are view_NAME.txt */
	{ "functions", NULL, "j" },
	{ "tree", tree, "2jj" },
	{ "tree_up", tree_up, "2bj" },
	{ "flame", tree, "3jl" },
	{ "heat", heat, "4kkhhh" },
	{ "threads", threads, "5j" },
};

/* The first key chooses the view that the answers are for. */
static bool is_of_view(const struct state *state)
{
	return state->keys[0] >= '1' && state->keys[0] <= '9';
}

static void raise_state(struct stage *stage, const struct state *state)
{
	struct answers *answers = hand_answers(symbols, functions);

	if (state->make)
		state->make(answers);
	stage_raise(stage, is_of_view(state) ? NULL : answers);
	if (is_of_view(state)) {	/* the answers are for this view */
		stage_press(stage, (unsigned char)state->keys[0]);
		stage_show(stage, answers);
	}
	stage_type(stage, state->keys);
	stage->now += 4 * NS_PER_SECOND;	/* the message has gone */
	screen_step(stage->screen, stage->now);
}

static void test_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		char *golden = util_format("state_%s", states[i].name);
		struct stage stage;

		raise_state(&stage, &states[i]);
		sheet_check(&stage, golden);
		stage_strike(&stage);
		free(golden);
	}
}

static void test_views(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		char *golden = util_format("view_%s", views[i].name);
		struct stage stage;

		raise_state(&stage, &views[i]);
		sheet_check_view(&stage, golden);
		stage_strike(&stage);
		free(golden);
	}
}

/* Without a recording, the keys of the player do nothing. With one, SPACE plays it and orders nothing from a guest. */
static void test_keys_of_a_recording(void **state)
{
	static const struct { const char *keys; struct play play; } rows[] = {
		{ " ", { PLAY_PAUSE, 0 } }, { "f", { PLAY_FASTER, 0 } }, { "F", { PLAY_SLOWER, 0 } },
		{ "o", { PLAY_STEP, 0 } }, { "(", { PLAY_BY, -10 * (int64_t)NS_PER_SECOND } },
		{ ")", { PLAY_BY, 10 * NS_PER_SECOND } }, { "r", { PLAY_NEXT_BOOT, 0 } },
		{ "R", { PLAY_PREVIOUS_BOOT, 0 } }, { "t1:30\r", { PLAY_TO, 90 * NS_PER_SECOND } },
		{ "t90\r", { PLAY_TO, 90 * NS_PER_SECOND } }, { "t1:00:00.5\r", { PLAY_TO, 3600500000000 } },
		{ "t-30\r", { PLAY_BY, -30 * (int64_t)NS_PER_SECOND } },
		{ "t+1:00\r", { PLAY_BY, 60 * NS_PER_SECOND } },
	};
	static const char *const bad[] = { "t\r", "t1:\r", "t:1\r", "t1:2:3:4\r", "tx\r", "t1x\r", "t--1\r", "t1e3\r" };
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	replay(answers);
	stage_raise(&stage, answers);
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

/* The cursor stays on its path while the numbers move; x shows callers and callees, and Esc goes back to the row. */
static void test_tree(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	tree(answers);
	stage_raise(&stage, NULL);
	stage_press(&stage, '2');
	stage_show(&stage, answers);
	assert_int_equal(stage.session.tree.tree.orders, 1 << TREE_DOWN);
	stage_type(&stage, "jj");
	stage_holds(&stage, ">   18.92   43.15   18.44", true);		/* memcpy, below spin_lock */
	assert_int_equal(stage.session.tree.tree.unfolded_count, 0);
	stage_press(&stage, '+');
	assert_int_equal(stage.session.tree.tree.unfolded_count, 1);
	stage_press(&stage, '-');				/* no answer has unfolded it yet: to the parent */
	stage_holds(&stage, ">   43.84   87.25", true);
	stage_press(&stage, 'E');
	assert_int_not_equal(stage.session.tree.tree.below, 0);
	for (int i = 0; i < 2; i++) {				/* the second answer after a wish has it */
		answers = hand_answers(symbols, functions);
		hand_tree(answers, symbols, functions, false, 500);
		stage_show(&stage, answers);
	}
	stage_holds(&stage, ">   43.84   87.25", true);
	assert_int_equal(stage.session.tree.tree.below, 0);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 3);	/* syscall_entry, spin_lock, memcpy */
	stage_press(&stage, '-');
	assert_int_equal(stage.session.tree.tree.unfolded_count, 2);
	stage_press(&stage, 'x');
	assert_int_equal(stage.session.tree.tree.of, tree_name(symbols_get(symbols, functions[1]), ""));
	answers = hand_answers(symbols, functions);
	hand_tree(answers, symbols, functions, true, 0);
	stage_show(&stage, answers);
	sheet_check(&stage, "state_callers");
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check_view(&stage, "view_callers");
	answers = hand_answers(symbols, functions);
	hand_tree(answers, symbols, functions, true, 0);
	answers->tree->tree->lists[TREE_DOWN].count = answers->tree->tree->lists[TREE_UP].count = 0;
	stage_show(&stage, answers);
	stage_holds(&stage, "Nothing has run this function in the", true);
	stage_press(&stage, KEYS_ESCAPE);
	assert_int_equal(stage.session.tree.tree.of, 0);
	stage_press(&stage, 'b');
	assert_int_equal(stage.session.tree.tree.orders, 1 << TREE_UP);
	stage_strike(&stage);
}

/* Enter on a function shows its page, on which the keys scroll; Esc goes back to the row. */
static void test_page(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	uint64_t name = tree_name(symbols_get(symbols, functions[1]), "demo-kernel");
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(symbols, functions));
	stage_type(&stage, "jjj");
	assert_int_equal(stage.session.wanted.selected, functions[1]);
	stage_press(&stage, KEYS_ENTER);
	assert_int_equal(stage.session.page.tree.of, name);
	hand_page(answers, symbols, functions);
	stage_show(&stage, answers);
	stage_holds(&stage, "spin_lock  kernel", true);
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check(&stage, "state_page");
	sheet_check_view(&stage, "view_page");
	stage_resize(&stage, 24, 80, true);
	stage_holds(&stage, "ON CPU", true);
	stage_press(&stage, KEYS_PAGE_DOWN);
	stage_holds(&stage, "ON CPU", false);
	stage_holds(&stage, "spin_lock  kernel", true);
	stage_type(&stage, "/memcpy\r");
	stage_holds(&stage, "43.15  memcpy", true);
	stage_type(&stage, "/primes\r");
	stage_holds(&stage, "17.19  primes/17", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_press(&stage, KEYS_END);
	stage_holds(&stage, "CALLS", true);
	stage_press(&stage, KEYS_ENTER);
	stage_press(&stage, 'B');
	stage_holds(&stage, "not grouped", true);
	stage_press(&stage, 'x');
	assert_int_equal(stage.session.tree.tree.of, name);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "spin_lock  kernel", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, ">   11.06", true);
	stage_strike(&stage);
}

/* With a baseline, each share of the page has its change. */
static void test_page_with_a_baseline(void **state)
{
	struct answers *answers = hand_answers(symbols, functions), *compared = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(symbols, functions));
	stage_type(&stage, "jjj\r");
	hand_page(answers, symbols, functions);
	stage_show(&stage, answers);
	stage_type(&stage, "\b");
	assert_int_not_equal(stage.session.page.request.excerpt.base.until_ns, 0);
	hand_page(compared, symbols, functions);
	hand_baseline(compared);
	stage_show(&stage, compared);
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check(&stage, "state_baseline_page");
	stage_strike(&stage);
}

/* A map of the heat shows no change, and says so. */
static void test_heat_with_a_baseline(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	heat(answers);
	stage_raise(&stage, NULL);
	stage_type(&stage, "4");
	stage_show(&stage, answers);
	stage_holds(&stage, "shows no change", false);
	stage_type(&stage, "\b");
	stage_holds(&stage, "brightest at 100 %; shows no change", true);
	stage_strike(&stage);
}

/* Enter makes a cell as wide as the flame; each Esc takes one step of that back, and no more than that. */
static void test_flame_zoom(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	tree(answers);
	stage_raise(&stage, NULL);
	stage_press(&stage, '3');
	stage_show(&stage, answers);
	stage_holds(&stage, "syscall_entry  50.25% of all", true);
	stage_press(&stage, KEYS_DOWN);
	stage_press(&stage, KEYS_DOWN);
	stage_holds(&stage, "memcpy  18.92% of all", true);
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "[unknown]", false);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 1);
	stage_press(&stage, KEYS_ESCAPE);		/* spin_lock is the widest now */
	stage_holds(&stage, "[unknown]", false);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 1);
	stage_press(&stage, KEYS_ESCAPE);		/* syscall_entry */
	stage_holds(&stage, "[unknown]", false);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "[unknown]", true);
	stage_holds(&stage, "memcpy  18.92% of all", true);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 0);
	assert_int_equal(stage.session.tree.line_count, 1);
	stage_strike(&stage);
}

/* Each view that is made of a call tree says that rows of it are missing. */
static void test_scarce(void **state)
{
	static const char *const keys[] = { "2", "3", "\r" };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct answers *answers = hand_answers(symbols, functions);
		struct stage stage;

		stage_raise(&stage, hand_answers(symbols, functions));
		stage_type(&stage, "jjj");		/* the page is spin_lock's */
		stage_type(&stage, keys[i]);
		if (*keys[i] == '\r')
			hand_page(answers, symbols, functions);
		else
			hand_tree(answers, symbols, functions, false, 0);
		(answers->page ? answers->page->tree : answers->tree)->tree->scarce = true;
		stage_show(&stage, answers);
		stage_resize(&stage, 60, 80, true);
		stage_holds(&stage, "memory is short", true);
		stage_strike(&stage);
	}
}

/* With 256 colours and Unicode, cells of a flame begin and end in the middle of a column, too. */
static void test_flame_of_half_columns(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	tree(answers);
	stage_raise(&stage, NULL);
	stage.halves = true;
	stage_press(&stage, '3');
	stage_show(&stage, answers);
	sheet_check(&stage, "state_flame_halves");
	stage_strike(&stage);
}

static void test_reset(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(symbols, functions));
	stage_press(&stage, 'Z');
	empty(answers);
	answers->vitals->now = 2 * NS_PER_SECOND;
	stage_show(&stage, answers);
	sheet_check(&stage, "state_reset");
	stage_strike(&stage);
}

/* Advice is of use: a longer window is not advised if nothing comes before this one. */
static void test_advice_on_an_empty_table(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	struct stage stage;

	(void)state;
	off_and_empty(answers);
	stage_raise(&stage, answers);
	stage_holds(&stage, "SPACE starts it; F7 takes a longer window", true);
	stage_press(&stage, 'z');
	stage_holds(&stage, "SPACE starts it; Esc counts all again.", true);
	answers = hand_answers(symbols, functions);
	off_and_empty(answers);
	answers->vitals->now = 2 * NS_PER_SECOND;			/* reset less than a window ago */
	stage_show(&stage, answers);
	stage_holds(&stage, "Profiling is off in the guest.", true);
	stage_holds(&stage, "SPACE starts it.", true);
	stage_holds(&stage, "longer window", false);
	answers = hand_answers(symbols, functions);
	off_and_empty(answers);
	answers->vitals->unsampled = true;			/* reset long ago, and never profiled since */
	stage_show(&stage, answers);
	stage_holds(&stage, "SPACE starts it.", true);
	stage_holds(&stage, "longer window", false);
	stage_strike(&stage);
}

static void test_before_the_first_answers(void **state)
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
	for (size_t i = 0; i < HAND_THREADS; i++) {
		static const char *const titles[HAND_THREADS] = { "primes/17", "flush_worker/4", "init/1", "shell/9" };

		threads_of[i] = symbols_group(symbols, titles[i], i == 1 ? "kernel" : titles[i]);
	}
	free(names);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_page_with_a_baseline),
		cmocka_unit_test(test_heat_with_a_baseline),
		cmocka_unit_test(test_flame_zoom),
		cmocka_unit_test(test_scarce),
		cmocka_unit_test(test_flame_of_half_columns),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_keys_of_a_recording),
		cmocka_unit_test(test_advice_on_an_empty_table),
		cmocka_unit_test(test_before_the_first_answers),
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
