/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/golden.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/fakes/quick.h"
#include "tui/frame/header.h"
#include "tui/frame/scope.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"

static const char *remark_of(const struct answers *answers, const struct scope *scope,
	char text[HEADER_REMARK])
{
	return header_remark(answers->vitals, scope,
		answers->functions->table->count != 0, &keys_standard, text);
}

static void check_header(struct answers *answers, struct scope scope, int rows, int columns,
	const char *golden)
{
	struct canvas *canvas = canvas_new(rows, columns, true);
	struct canvas *ascii = canvas_new(rows, columns, false);
	struct area area = { 0, 0, rows, columns };
	int used = header_draw(canvas, area, answers->vitals, &scope, &keys_standard);

	assert_in_range(used, 1, rows / 3);
	assert_int_equal(header_draw(ascii, area, answers->vitals, &scope, &keys_standard), used);
	golden_check(golden, canvas);
	canvas_free(canvas);
	canvas_free(ascii);
	answers_free(answers);
}

static void test_header(void **state)
{
	struct answers *answers;
	struct scope scope;

	(void)state;
	scope_init(&scope);
	answers = hand_answers(hand_names, hand_functions);
	answers->vitals->lost_guest = 12;
	answers->vitals->lost_host = 3;
	answers->vitals->skipped_bytes = 4096;
	answers->vitals->running = false;
	answers->vitals->lost_before = 10577;
	answers->vitals->cpus[1].series.missed = 10000;
	answers->vitals->vm = VM_PAUSED;
	scope.zero_ns = 185 * NS_PER_SECOND;
	scope.until_ns = 191 * NS_PER_SECOND;
	assert_true(scope_filter(&scope, "alloc cpu:1 mode:kernel", NULL));
	check_header(answers, scope, 24, 80, "header_trouble");
}

static char *drawn_header(const struct answers *answers, const struct scope *scope, int columns,
	int *used)
{
	struct canvas *canvas = canvas_new(24, columns, true);
	char *text;

	*used = header_draw(canvas, (struct area) { 0, 0, 24, columns }, answers->vitals, scope, &keys_standard);
	text = canvas_dump(canvas);
	canvas_free(canvas);
	return text;
}

/* The header keeps its height, whatever comes and goes in it, so that the rows below do not move. */
static void test_header_keeps_its_height(void **state)
{
	struct scope scope;

	(void)state;
	scope_init(&scope);
	for (int columns = 40; columns <= 240; columns++) {
		struct answers *quiet = hand_answers(hand_names, hand_functions);
		struct answers *busy = hand_answers(hand_names, hand_functions);
		int used, used_busy, used_off;

		quiet->vitals->cost_ns = quiet->vitals->cost_share = 0;
		quiet->vitals->ring_fill = quiet->vitals->achieved = 0;
		busy->vitals->cost_ns = 12345;
		busy->vitals->ring_fill = 1;
		busy->vitals->lost_guest = 1234;
		busy->vitals->events.on = true;
		busy->vitals->events.rate = 123456;
		busy->vitals->events.cost_share = 0.017;
		for (uint32_t i = 0; i < busy->vitals->cpu_count; i++)
			busy->vitals->cpus[i].series.missed = 1000;
		free(drawn_header(quiet, &scope, columns, &used));
		free(drawn_header(busy, &scope, columns, &used_busy));
		busy->vitals->running = false;
		busy->vitals->vm = VM_PAUSED;
		free(drawn_header(busy, &scope, columns, &used_off));
		assert_int_equal(used_busy, used);
		assert_int_equal(used_off, used);
		answers_free(quiet);
		answers_free(busy);
	}
}

static void check_title(int columns, const struct vitals *vitals, const struct scope *scope, bool wide)
{
	struct canvas *canvas = canvas_new(40, columns, true);
	int used = title_draw(canvas, (struct area) { 0, 0, 40, columns }, vitals, scope, &keys_standard);
	char *text = canvas_dump(canvas);

	if (used > (wide ? 1 : 2) || !strstr(text, "demo-kernel") || !strstr(text, "lost 0") || !strstr(text, "REC"))
		fail_msg("%d columns:\n%s", columns, text);
	free(text);
	canvas_free(canvas);
}

static void check_says(const struct answers *answers, int columns, const char *says, bool there)
{
	char *text;
	struct scope scope;
	int used;

	scope_init(&scope);
	text = drawn_header(answers, &scope, columns, &used);
	if (used != (columns < 120 ? 6 : 5) || (strstr(text, says) != NULL) != there)
		fail_msg("%d columns: %s%s\n%s", columns, there ? "" : "not ", says, text);
	free(text);
}

/* Their rate, cost and loss stand beside those of samples, or in place of them; while they are off, nothing does. */
static void test_events_beside_samples(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct vitals *vitals = answers->vitals;

	(void)state;
	vitals->cpus[3].sampler = false;
	for (int columns = 80; columns <= 200; columns += 8) {
		vitals->sampler = SAMPLER_TIMER;
		vitals->events.on = false;
		vitals->events.lost = 0;
		check_says(answers, columns, "event", false);
		vitals->events.on = true;
		vitals->events.rate = 12345.6;
		vitals->events.cost_share = 0.00234;
		check_says(answers, columns, "events 12k/s 0.2%", true);
		check_says(answers, columns, "997/997 Hz timer", true);
		check_says(answers, columns, "lost 0 ", true);
		vitals->events.rate = vitals->achieved = -1;	/* not known, as in what a dead machine has left */
		vitals->events.cost_share = 0;
		check_says(answers, columns, "events -/s", true);
		check_says(answers, columns, "997/-   Hz timer", true);
		check_says(answers, columns, "events -/s 0", false);
		vitals->events.rate = 12345.6;
		vitals->events.cost_share = 0.00234;
		vitals->achieved = 997;
		vitals->events.lost = 4750;
		check_says(answers, columns, "lost 0, events 4750", true);
		check_says(answers, columns, "997/997 Hz timer", true);
		vitals->sampler = SAMPLER_NONE;
		check_says(answers, columns, "lost 0, events 4750", true);
		check_says(answers, columns, "events 12k/s 0.2%", true);
		check_says(answers, columns, "trace only", true);
		check_says(answers, columns, "Hz", false);
		check_says(answers, columns, "CPUs not run", false);
		vitals->events.on = false;
		check_says(answers, columns, "no event is on", true);
	}
	answers_free(answers);
}

/* The CPUs show what samples the window has; without any, they say why. */
static void test_cpus_without_samples(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	(void)state;
	answers->vitals->sampler = SAMPLER_NONE;
	answers->vitals->cpus[3].sampler = false;
	for (uint32_t i = 0; i < answers->vitals->cpu_count; i++)
		answers->vitals->cpus[i].enabled = false;
	answers->vitals->cpus[1].series = (struct cpu_series) { .missed = 0 };
	check_says(answers, 80, "cpu0 k ", true);
	check_says(answers, 80, "cpu1 no samples: trace only", true);
	answers_free(answers);
}

/* One thing that is out of the ordinary gives the title no further row; nor do two, of those that people mix. */
static void test_title_has_few_rows(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct scope plain;

	(void)state;
	scope_init(&plain);
	for (int i = 0; i < 64; i++) {
		struct scope scope = plain;

		if (__builtin_popcount((unsigned)i) > 2)
			continue;
		answers->vitals->play = (struct play_state) { .there = i & 1, .playing = true, .speed = 2,
			.at = 83 * NS_PER_SECOND, .end = 600 * NS_PER_SECOND, .boot = 1, .boots = i & 1 ? 3 : 0 };
		scope.until_ns = i & 2 ? 192470 * NS_PER_MS : 0;
		scope.base.until_ns = i & 4 ? 181 * NS_PER_SECOND : 0;
		scope.zero_ns = i & 8 ? 185 * NS_PER_SECOND : 0;
		scope.no_idle = i & 16;
		scope.by = i & 32 ? GROUP_THREAD : GROUP_FUNCTION;
		for (int columns = 80; columns < 200; columns += 5)
			check_title(columns, answers->vitals, &scope, columns >= 120);
	}
	answers_free(answers);
}

/* Also where rows are shown, since the rest of the filter has some; and only while no machine is called so. */
static void test_a_machine_that_is_not_there(void **state)
{
	static const char *const filters[] = { "machine:nosuch", "!machine:nosuch", "machine:web|nosuch",
		"machine:db" };
	struct answers *answers = hand_answers(hand_names, hand_functions);
	char text[HEADER_REMARK];
	struct scope scope;

	(void)state;
	scope_init(&scope);
	answers->vitals->machine_count = 2;
	answers->vitals->machines = util_alloc(2 * sizeof(*answers->vitals->machines));
	strcpy(answers->vitals->machines[0].name, "1 web");
	strcpy(answers->vitals->machines[1].name, "2 db");
	for (size_t i = 0; i < 4; i++) {
		assert_true(scope_filter(&scope, filters[i], NULL));
		header_remark(answers->vitals, &scope, true, &keys_standard, text);
		assert_string_equal(text, i < 3 ? "No machine is called nosuch; there are: 1 web, 2 db" : "");
	}
	assert_true(scope_filter(&scope, "machine:nosuch", NULL));
	strcpy(answers->vitals->machines[1].name, "2 nosuch");	/* it has come */
	assert_string_equal(header_remark(answers->vitals, &scope, true, &keys_standard, text), "");
	answers_free(answers);
}

static void check_missed(const struct answers *answers, const char *filter, const char *wanted)
{
	struct scope scope;
	char *text;
	int used;

	scope_init(&scope);
	assert_true(scope_filter(&scope, filter, NULL));
	text = drawn_header(answers, &scope, 120, &used);
	if (!strstr(text, wanted))
		fail_msg("%s: no \"%s\" in\n%s", filter, wanted, text);
	free(text);
}

/* The missed periods are a share of all time of the filter's CPU: they have no thread and no mode. */
static void test_missed_is_a_share_of_all_time(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	(void)state;
	answers->vitals->cpus[1].series.missed = 10000;
	answers->functions->table->weight = answers->functions->table->samples = 0;
	check_missed(answers, "", "CPUs not run 20%");
	check_missed(answers, "thread:nosuch", "CPUs not run 20%");
	check_missed(answers, "cpu:1", "CPUs not run 50%");
	check_missed(answers, "cpu:0", "lost 0  ");
	answers_free(answers);
}

/* Each remark is shown whole, on two lines if needed. One that was put away stays away until its words change. */
static void test_remarks_are_whole_and_can_be_put_away(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct scope scope;
	char *text;
	int used, all;

	(void)state;
	scope_init(&scope);
	answers->vitals->now = 0;
	strcpy(answers->vitals->note, "12 samples: memory is full; give more\n"
		"another remark, which is so long that one line of eighty columns does not hold "
		"all of it, but two of them do");
	text = drawn_header(answers, &scope, 80, &all);
	assert_non_null(strstr(text, " 12 samples: memory is full; give more\n"));
	assert_null(strstr(text, "another remark"));
	free(text);
	answers->vitals->now = 5 * NS_PER_SECOND;
	text = drawn_header(answers, &scope, 80, &used);
	assert_non_null(strstr(text, " another remark, which is so long"));
	assert_non_null(strstr(text, "but two of them do\n"));
	assert_null(strstr(text, "12 samples"));
	assert_int_equal(used, all);				/* each remark takes as many rows */
	free(text);

	assert_true(header_dismiss(answers->vitals, &scope, true, &keys_standard));
	assert_false(header_dismiss(answers->vitals, &scope, true, &keys_standard));
	strcpy(answers->vitals->note, "13 samples: memory is full; give more");
	text = drawn_header(answers, &scope, 80, &used);
	assert_null(strstr(text, "samples: memory"));
	assert_int_equal(used, all - 2);
	free(text);
	strcpy(answers->vitals->note, "13 samples: memory is full; give more\nsomething else");
	text = drawn_header(answers, &scope, 80, &used);
	assert_non_null(strstr(text, " something else\n"));
	assert_null(strstr(text, "samples: memory"));
	free(text);
	answers_free(answers);
}

/* However many remarks there are, each is shown in turn. */
static void test_no_remark_hides_another(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	bool seen[60] = { false };
	struct scope scope;
	char *note = answers->vitals->note;

	(void)state;
	scope_init(&scope);
	for (int i = 0; i < 60; i++)
		note += sprintf(note, "mark%02d\n", i);
	for (int turn = 0; turn < 60; turn++, answers->vitals->now += 5 * NS_PER_SECOND) {
		int used;
		char *text = drawn_header(answers, &scope, 80, &used);

		for (int i = 0; i < 60; i++) {
			char remark[32];

			snprintf(remark, sizeof(remark), "mark%02d", i);
			seen[i] = seen[i] || strstr(text, remark);
		}
		free(text);
	}
	for (int i = 0; i < 60; i++)
		assert_true(seen[i]);
	answers_free(answers);
}

/* However many CPUs there are, the view has two thirds of the screen. */
static void test_many_cpus_fold(void **state)
{
	static const uint32_t counts[] = { 1, 2, 4, 8, 16, 64, 200, 1024, 4096 };
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct scope scope;

	(void)state;
	scope_init(&scope);
	assert_true(scope_filter(&scope, "alloc cpu:1 mode:kernel", NULL));
	scope.zero_ns = scope.until_ns = 1;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		hand_cpus(answers, counts[i]);
		for (int rows = 4; rows < 80; rows += 3) {
			for (int columns = 20; columns < 260; columns += 13) {
				struct canvas *canvas = canvas_new(rows, columns, true);
				struct area area = { 0, 0, rows, columns };
				int used = header_draw(canvas, area, answers->vitals, &scope, &keys_standard);

				assert_in_range(used, 1, rows / 3);
				while (used < rows)
					assert_int_equal(canvas_cell(canvas, used++, 1)->code, ' ');
				canvas_free(canvas);
			}
		}
	}
	answers_free(answers);
}

/* The strip below the sum has every CPU in it: one busy CPU among 4,096 can be seen. */
static void test_no_cpu_is_left_out(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct scope scope;

	(void)state;
	scope_init(&scope);
	hand_cpus(answers, 4096);
	for (uint32_t cpu = 0; cpu < 4096; cpu += 4095 / quick_part(9, 3)) {
		int used;
		char *text;

		for (uint32_t i = 0; i < 4096; i++)
			answers->vitals->cpus[i].series = (struct cpu_series) {
				.mode = { [MODE_IDLE] = i != cpu, [MODE_KERNEL] = i == cpu },
			};
		text = drawn_header(answers, &scope, 100, &used);
		assert_non_null(strstr(text, "by "));
		assert_non_null(strstr(text, "█"));
		free(text);
	}
	answers_free(answers);
}

static void test_remarks(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	char text[HEADER_REMARK];
	struct scope scope;

	(void)state;
	scope_init(&scope);
	assert_string_equal(remark_of(answers, &scope, text), "");
	for (int vm = VM_UNKNOWN; vm <= VM_GONE; vm++) {
		for (int link = LINK_NO_PORT; link <= LINK_LOST; link++) {
			answers->vitals->vm = (enum vm_state)vm;
			answers->vitals->link = (enum link_state)link;
			assert_in_range(strlen(remark_of(answers, &scope, text)), 0, 78);
			assert_true(*text || (link == LINK_UP && vm <= VM_RUNNING));
			answers->vitals->by = BY_PLUGIN;
			assert_in_range(strlen(remark_of(answers, &scope, text)), 0, 78);
			answers->vitals->by = BY_STUB;
			assert_in_range(strlen(remark_of(answers, &scope, text)), 0, 78);
			answers->vitals->by = BY_HOOK;
		}
	}
	answers->vitals->vm = VM_RUNNING;
	answers->vitals->link = LINK_UP;
	answers->vitals->running = false;
	assert_non_null(strstr(remark_of(answers, &scope, text), "SPACE starts it"));
	answers->vitals->link = LINK_LOST;
	assert_non_null(strstr(remark_of(answers, &scope, text), "connects again by itself"));
	answers->vitals->vm = VM_PAUSED;
	assert_non_null(strstr(remark_of(answers, &scope, text), "`cont` in QEMU's monitor"));
	answers->vitals->vm = VM_RUNNING;
	answers->vitals->link = LINK_UP;
	answers->vitals->running = true;
	answers->vitals->cpus[1].series.missed = 20000;
	assert_non_null(strstr(remark_of(answers, &scope, text),
		"The host did not run the guest's CPUs for 33 % of the time: is it busy?"));
	answers->vitals->sampler = SAMPLER_OUTSIDE;
	assert_non_null(strstr(remark_of(answers, &scope, text), "for 33 % of the time: a busy host, or QE"));
	assert_in_range(strlen(text), 0, 78);
	answers->vitals->sampler = SAMPLER_STUB;
	assert_non_null(strstr(remark_of(answers, &scope, text), "for 33 % of the time: the stub is slow"));
	assert_in_range(strlen(text), 0, 78);
	answers->vitals->cpus[1].series.missed = 0;
	answers->vitals->by = BY_STUB;
	answers->vitals->sampler = SAMPLER_STUB;
	assert_non_null(strstr(remark_of(answers, &scope, text), "The gdb stub began by itself; SPACE stops it"));
	assert_in_range(strlen(text), 0, 78);
	answers->vitals->running = false;
	assert_non_null(strstr(remark_of(answers, &scope, text), "SPACE starts the stub; a hook adds"));
	assert_in_range(strlen(text), 0, 78);
	answers->vitals->sampler = SAMPLER_OUTSIDE;
	assert_non_null(strstr(remark_of(answers, &scope, text), "SPACE starts the plugin; a hook adds"));
	assert_in_range(strlen(text), 0, 78);
	answers->vitals->running = true;
	assert_non_null(strstr(remark_of(answers, &scope, text), "plugin: a sample lands between"));
	assert_in_range(strlen(text), 0, 78);
	answers->vitals->by = BY_HOOK;
	answers->vitals->sampler = SAMPLER_TIMER;
	assert_non_null(strstr(remark_of(answers, &scope, text), "interrupts off"));
	strcpy(answers->vitals->note, "the guest refused nmi: it needs two CPUs");
	scope_init(&scope);
	check_header(answers, scope, 24, 80, "header_note");
}

/* Each remark of the status line can be put away, until it goes and comes again. */
static void test_limits_can_be_put_away(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct vitals *vitals = answers->vitals;
	char text[HEADER_REMARK];
	struct scope scope;

	(void)state;
	scope_init(&scope);
	vitals->sampler = SAMPLER_TIMER;
	vitals->cpus[1].series.missed = 20000;
	assert_true(header_dismiss(vitals, &scope, true, &keys_standard));
	assert_string_equal(remark_of(answers, &scope, text), "");
	assert_false(header_dismiss(vitals, &scope, true, &keys_standard));

	vitals->cpus[1].series.missed = 30000;		/* the same remark with another number */
	header_settle(vitals, &scope, &keys_standard);
	assert_string_equal(remark_of(answers, &scope, text), "");
	vitals->cpus[1].series.missed = 0;
	header_settle(vitals, &scope, &keys_standard);
	vitals->cpus[1].series.missed = 20000;
	header_settle(vitals, &scope, &keys_standard);
	assert_non_null(strstr(remark_of(answers, &scope, text), "for 33 %"));
	vitals->cpus[1].series.missed = 0;		/* the other remarks stay away */
	assert_string_equal(remark_of(answers, &scope, text), "");
	vitals->sampler = SAMPLER_NMI;
	header_settle(vitals, &scope, &keys_standard);
	vitals->sampler = SAMPLER_TIMER;
	assert_non_null(strstr(remark_of(answers, &scope, text), "interrupts off"));
	answers_free(answers);
}

/* A remark that was put away, goes and comes again is shown. */
static void test_a_remark_that_comes_again_is_shown(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct vitals *vitals = answers->vitals;
	struct scope scope;

	(void)state;
	scope_init(&scope);
	strcpy(vitals->note, "memory is full; give more");
	assert_true(header_dismiss(vitals, &scope, true, &keys_standard));
	header_settle(vitals, &scope, &keys_standard);
	assert_false(remark_line_any(vitals, &scope));
	vitals->note[0] = '\0';
	header_settle(vitals, &scope, &keys_standard);
	strcpy(vitals->note, "memory is full; give more");
	assert_true(remark_line_any(vitals, &scope));
	answers_free(answers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_header_keeps_its_height),
		cmocka_unit_test(test_title_has_few_rows),
		cmocka_unit_test(test_events_beside_samples),
		cmocka_unit_test(test_cpus_without_samples),
		cmocka_unit_test(test_a_machine_that_is_not_there),
		cmocka_unit_test(test_missed_is_a_share_of_all_time),
		cmocka_unit_test(test_no_remark_hides_another),
		cmocka_unit_test(test_remarks_are_whole_and_can_be_put_away),
		cmocka_unit_test(test_limits_can_be_put_away),
		cmocka_unit_test(test_a_remark_that_comes_again_is_shown),
		cmocka_unit_test(test_many_cpus_fold),
		cmocka_unit_test(test_no_cpu_is_left_out),
		cmocka_unit_test(test_remarks),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
