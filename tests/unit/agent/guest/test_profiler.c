/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/guest/profiler.h"

enum { MS = 1000000 };

static struct profiler_facts off(uint64_t ms, bool key_path)
{
	return (struct profiler_facts) {
		.now = ms * MS, .guest_now = ms * MS, .key_path = key_path, .status_known = true,
	};
}

static struct profiler_facts on(uint64_t ms, bool key_path)
{
	struct profiler_facts facts = off(ms, key_path);

	facts.running = true;
	return facts;
}

static enum profiler_act step(struct profiler *profiler, struct profiler_facts facts)
{
	return profiler_step(profiler, &facts);
}

static void test_idle_does_nothing(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	assert_int_equal(step(&profiler, off(0, true)), PROFILER_WAIT);
	assert_int_equal(step(&profiler, on(1000, true)), PROFILER_WAIT);
}

static void test_by_key(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(1000, true)), PROFILER_PRESS_KEYS);
	assert_int_equal(step(&profiler, off(1100, true)), PROFILER_WAIT);
	assert_int_equal(step(&profiler, on(1200, true)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (by key)");
	assert_int_equal(step(&profiler, on(9000, true)), PROFILER_WAIT);

	profiler_want(&profiler, false, false);
	assert_int_equal(step(&profiler, on(9000, true)), PROFILER_PRESS_KEYS);
	assert_int_equal(step(&profiler, off(9001, true)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling off (by key)");
}

static void test_key_unanswered_then_port(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(1000, true)), PROFILER_PRESS_KEYS);
	assert_int_equal(step(&profiler, off(1299, true)), PROFILER_WAIT);
	assert_int_equal(step(&profiler, off(1300, true)), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, off(1400, true)), PROFILER_WAIT);
	assert_int_equal(step(&profiler, on(1500, true)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (by port: the key did not arrive)");
}

/* The key came late, and worked; the line that went out as well is still to be read. No key may overtake it. */
static void test_a_line_is_not_overtaken(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(1000, true)), PROFILER_PRESS_KEYS);
	assert_int_equal(step(&profiler, off(1300, true)), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, on(1301, true)), PROFILER_DONE);
	profiler_want(&profiler, false, false);
	assert_int_equal(step(&profiler, on(1400, true)), PROFILER_SEND_LINE);
	profiler_obeyed(&profiler);
	assert_int_equal(step(&profiler, off(1500, true)), PROFILER_DONE);
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(1600, true)), PROFILER_PRESS_KEYS);
}

static void test_no_key_path(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(5, false)), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, on(6, false)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (by port: the guest takes no keys)");
}

static void test_keys_cannot_be_pressed(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(5, true)), PROFILER_PRESS_KEYS);
	profiler_no_key(&profiler);
	assert_int_equal(step(&profiler, off(5, true)), PROFILER_SEND_LINE);
}

static void test_already(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, on(5, true)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (already)");
}

/* Before the first status, nothing is confirmed, not even that the profiler is off. */
static void test_no_status(void **state)
{
	struct profiler profiler = { 0 };
	struct profiler_facts facts = { .now = 5 * MS };

	(void)state;
	profiler_want(&profiler, false, false);
	assert_int_equal(step(&profiler, facts), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, facts), PROFILER_WAIT);
}

/* A guest that hangs behind on a busy host still has its key's time; but not for ever. */
static void test_a_slow_guest(void **state)
{
	struct profiler profiler = { 0 };
	struct profiler_facts facts = off(1000, true);

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, facts), PROFILER_PRESS_KEYS);
	facts.now += 1000 * (uint64_t)MS;
	facts.guest_now += 200 * (uint64_t)MS;
	assert_int_equal(step(&profiler, facts), PROFILER_WAIT);
	facts.running = true;
	assert_int_equal(step(&profiler, facts), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (by key)");

	profiler_want(&profiler, false, false);
	assert_int_equal(step(&profiler, facts), PROFILER_PRESS_KEYS);
	facts.now += (PROFILER_KEY_MS + PROFILER_BUSY_MS - 1) * (uint64_t)MS;
	assert_int_equal(step(&profiler, facts), PROFILER_WAIT);
	facts.now += MS;
	assert_int_equal(step(&profiler, facts), PROFILER_SEND_LINE);
}

static void test_silence(void **state)
{
	struct profiler profiler = { 0 };
	struct profiler_facts facts = off(0, true);

	(void)state;
	profiler_want(&profiler, true, false);
	step(&profiler, facts);
	facts.now += PROFILER_KEY_MS * (uint64_t)MS;
	facts.guest_now += PROFILER_KEY_MS * (uint64_t)MS;
	assert_int_equal(step(&profiler, facts), PROFILER_SEND_LINE);
	facts.now += PROFILER_LINE_MS * (uint64_t)MS;
	facts.hindrance = "the VM is paused";
	assert_int_equal(step(&profiler, facts), PROFILER_FAILED);
	assert_string_equal(profiler.text, "profiling not turned on: the VM is paused");
	assert_int_equal(step(&profiler, facts), PROFILER_WAIT);
}

/* The guest cannot hear. A line that is sent now would be obeyed much later, so none is sent. */
static void test_hindered(void **state)
{
	struct profiler profiler = { 0 };
	struct profiler_facts facts = off(0, true);

	(void)state;
	facts.hindrance = "the VM is paused";
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, facts), PROFILER_FAILED);
	assert_string_equal(profiler.text, "profiling not turned on: the VM is paused");
	assert_int_equal(step(&profiler, facts), PROFILER_WAIT);
}

static void test_refused(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	profiler_refused(&profiler, "too early: nothing was sent");
	assert_int_equal(step(&profiler, off(5, false)), PROFILER_SEND_LINE);
	profiler_refused(&profiler, "no CPU is enabled");
	assert_int_equal(step(&profiler, off(6, false)), PROFILER_FAILED);
	assert_string_equal(profiler.text, "profiling not turned on: no CPU is enabled");
}

static void test_newer_wish(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, false);
	assert_int_equal(step(&profiler, off(5, true)), PROFILER_PRESS_KEYS);
	profiler_want(&profiler, false, false);
	assert_int_equal(step(&profiler, on(6, true)), PROFILER_PRESS_KEYS);
	assert_int_equal(step(&profiler, off(7, true)), PROFILER_DONE);
}

static struct profiler_facts hindered(uint64_t ms)
{
	struct profiler_facts facts = off(ms, true);

	facts.hindrance = "the VM is paused";
	return facts;
}

static struct profiler_facts silent(uint64_t ms, bool running)
{
	struct profiler_facts facts = running ? on(ms, false) : off(ms, false);

	facts.silent = true;
	return facts;
}

/* Nothing is sent while the guest cannot hear, and that the wish is kept is told once. */
static void test_kept_while_hindered(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, true);
	assert_int_equal(step(&profiler, hindered(0)), PROFILER_KEEP);
	assert_string_equal(profiler.text,
		"profiling starts when the guest answers: the VM is paused");
	assert_int_equal(step(&profiler, hindered(100000)), PROFILER_WAIT);
	assert_int_equal(step(&profiler, off(100001, true)), PROFILER_PRESS_KEYS);
	assert_int_equal(step(&profiler, on(100002, true)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (by key)");

	profiler_want(&profiler, true, true);
	profiler_want(&profiler, false, true);
	assert_int_equal(step(&profiler, off(100003, true)), PROFILER_DONE);
}

static void test_kept_while_silent(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, true);
	assert_int_equal(step(&profiler, silent(0, false)), PROFILER_SEND_LINE);
	profiler_refused(&profiler, "the guest does not answer");
	assert_int_equal(step(&profiler, silent(3000, false)), PROFILER_KEEP);
	assert_string_equal(profiler.text, "profiling starts when the guest answers: it is silent");
	assert_int_equal(step(&profiler, silent(40000, false)), PROFILER_WAIT);

	/* The guest has booted anew, and knows nothing of the wish: it is sent again. */
	assert_int_equal(step(&profiler, off(40001, false)), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, silent(43001, false)), PROFILER_WAIT);	/* it was told before */
	assert_int_equal(step(&profiler, on(44000, false)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling on (the guest answers again)");
}

/* The wish fails if the guest answers but does not obey. */
static void test_kept_is_not_for_ever(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, true);
	assert_int_equal(step(&profiler, hindered(0)), PROFILER_KEEP);
	assert_int_equal(step(&profiler, off(1, false)), PROFILER_SEND_LINE);
	profiler_refused(&profiler, "no CPU is enabled");
	assert_int_equal(step(&profiler, off(2, false)), PROFILER_FAILED);
	assert_string_equal(profiler.text, "profiling not turned on: no CPU is enabled");
}

/* A line that was sent may be obeyed later, so the contrary has to be sent, too. */
static void test_taken_back(void **state)
{
	struct profiler profiler = { 0 };

	(void)state;
	profiler_want(&profiler, true, true);
	assert_int_equal(step(&profiler, silent(0, false)), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, silent(3000, false)), PROFILER_KEEP);
	profiler_want(&profiler, false, true);
	assert_int_equal(step(&profiler, silent(3001, false)), PROFILER_SEND_LINE);
	assert_int_equal(step(&profiler, silent(6001, false)), PROFILER_KEEP);
	assert_string_equal(profiler.text, "profiling stops when the guest answers: it is silent");
	assert_int_equal(step(&profiler, off(6002, false)), PROFILER_SEND_LINE);
	profiler_obeyed(&profiler);
	assert_int_equal(step(&profiler, off(6003, false)), PROFILER_DONE);

	/* A wish that was never sent leaves no doubt. */
	profiler_want(&profiler, true, true);
	assert_int_equal(step(&profiler, hindered(7000)), PROFILER_KEEP);
	profiler_want(&profiler, false, true);
	assert_int_equal(step(&profiler, hindered(7001)), PROFILER_DONE);
	assert_string_equal(profiler.text, "profiling off (already)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_does_nothing),
		cmocka_unit_test(test_by_key),
		cmocka_unit_test(test_key_unanswered_then_port),
		cmocka_unit_test(test_a_line_is_not_overtaken),
		cmocka_unit_test(test_no_key_path),
		cmocka_unit_test(test_keys_cannot_be_pressed),
		cmocka_unit_test(test_already),
		cmocka_unit_test(test_no_status),
		cmocka_unit_test(test_a_slow_guest),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_hindered),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_newer_wish),
		cmocka_unit_test(test_kept_while_hindered),
		cmocka_unit_test(test_kept_while_silent),
		cmocka_unit_test(test_kept_is_not_for_ever),
		cmocka_unit_test(test_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
