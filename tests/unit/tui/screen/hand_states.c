/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "hand_states.h"

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
	answer_free((struct answer *)answers->vitals);
	answer_free((struct answer *)answers->functions);
	answer_free((struct answer *)answers->line);
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

static void events(struct answers *answers)
{
	hand_events(answers, symbols, 0);
	answers->events->lost = 12;
	answers->events->kept_from = answers->events->from;
	answers->events->forgot = true;
}

static void memory(struct answers *answers)
{
	hand_memory(answers, symbols);
	answers->memory->lost = 12;
	answers->memory->sure_from = 100 * NS_PER_SECOND;
	answers->memory->rows[0].unsure = 65536;
}

static void memory_grown(struct answers *answers)
{
	memory(answers);
	answers->memory->compared = true;
}

static void timeline(struct answers *answers)
{
	hand_timeline(answers, symbols);
	answers->timeline->lost = 12;
	answers->timeline->kept_from = answers->timeline->from + 1;
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

const struct hand_state hand_states[] = {
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
	{ "formats", NULL, "Sj" },
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
	{ "events", events, "7j" },
	{ "events_slow", events, "7j\rj" },
	{ "timeline", timeline, "8jj" },
	{ "memory", memory, "9" },
	{ "memory_grown", memory_grown, "9j>" },
	{ "memory_stacks", memory, "9\r" },
	{ "help", NULL, "?" },
	{ "searching", NULL, "/alloc" },
	{ "filtering", NULL, "\\cpu:x" },
	{ "failed", NULL, "\\cpu:x\r" },
	{ NULL, NULL, NULL },
};

const struct hand_state hand_views[] = {
	{ "functions", NULL, "j" },
	{ "tree", tree, "2jj" },
	{ "tree_up", tree_up, "2bj" },
	{ "flame", tree, "3jl" },
	{ "heat", heat, "4kkhhh" },
	{ "formats", NULL, "Sj" },
	{ "threads", threads, "5j" },
	{ "events", events, "7j" },
	{ "timeline", timeline, "8jj" },
	{ "memory", memory, "9j" },
	{ NULL, NULL, NULL },
};

struct answers *hand_state_answers(const struct hand_state *state)
{
	struct answers *answers = hand_answers(symbols, functions);

	if (state->make)
		state->make(answers);
	return answers;
}

struct answers *hand_state(const char *name)
{
	const struct hand_state *state = hand_states;

	while (strcmp(state->name, name) != 0)
		state++;
	return hand_state_answers(state);
}

void hand_states_begin(void)
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

void hand_states_end(void)
{
	symbols_free(many_symbols);
	symbols_free(long_symbols);
	symbols_free(wide_symbols);
	symbols_free(symbols);
}
