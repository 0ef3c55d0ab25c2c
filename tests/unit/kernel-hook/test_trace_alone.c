/* SPDX-License-Identifier: MIT */
/* Tracing is apart from sampling: `sampler none` takes no samples, and no event is lost when the sampler changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "control_lines.h"

enum { PERIOD = HZ / 997 };

static const char *const samplers[] = { "none", "timer", "nmi" };

/* One event on each CPU, and `ticks` of its timer. */
static void go_on(int ticks)
{
	const struct ktop_regs regs = { .pc = 0x400000, .user = true };

	for (fake_cpu = 0; fake_cpu < CPUS; fake_cpu++) {
		ktop_trace_irq_exit(ktop, fake_cpu);
		for (int i = 0; i < ticks; i++) {
			fake_port.clock += 2 * PERIOD;
			ktop_tick(ktop, &regs);
		}
	}
	fake_cpu = 0;
}

static uint64_t sum(uint64_t (*count)(const struct ktop *ktop, uint32_t cpu, uint32_t stream), uint32_t stream)
{
	uint64_t all = 0;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		all += count(ktop, cpu, stream);
	return all;
}

static void choose(const char *sampler)
{
	static char line[32], answer[32];	/* the host goes on to point at what it has read */

	snprintf(line, sizeof(line), "sampler %s\n", sampler);
	snprintf(answer, sizeof(answer), "sampler %s", sampler);
	done(line, answer);
}

static void start_alone(void)
{
	bool ok;

	say("events +irq\n", &ok);
	assert_true(ok);
	choose("none");
	done("start\n", "started");
}

static void no_sampler_takes_no_sample_and_asks_for_nothing(void **state)
{
	(void)state;
	start_alone();
	for (int i = 0; i < 8; i++) {
		go_on(3);
		settle();
	}
	assert_true(ktop_running(ktop));
	assert_true(status().running == 1 && status().sampler == KTOP_NONE && status().sampler_cpu == KTOP_NO_CPU);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		assert_true(fake_port.kicks[cpu] == 0 && fake_port.timer[cpu] == 0 && fake_port.nmis[cpu] == 0);
		assert_false(ktop_set_aside(ktop, cpu));
		assert_int_equal(ktop_taken(ktop, cpu, KTOP_TRACE), 8);
	}
	assert_int_equal(sum(ktop_taken, KTOP_SAMPLES), 0);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_sample), 0);
}

static void what_is_on_is_told_for_each_stream(void **state)
{
	bool ok;

	(void)state;
	start_alone();
	fake_port.clock += HZ;
	assert_non_null(strstr(say("status\n", &ok), "on, sampler none, rate 997, events 2 of "));
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		assert_true(ktop_on(ktop, cpu, KTOP_TRACE) && !ktop_on(ktop, cpu, KTOP_SAMPLES));
		assert_int_equal(ktop->cpu[cpu].span[KTOP_TRACE - KTOP_SAMPLES], HZ);
		assert_int_equal(ktop->cpu[cpu].span[0], 0);
	}
	done("stop\n", "stopped");
	go_on(3);
	assert_int_equal(sum(ktop_taken, KTOP_TRACE), 0);
	assert_int_equal(ktop->cpu[1].span[KTOP_TRACE - KTOP_SAMPLES], HZ);
	assert_true(status().running == 0 && status().sampler == KTOP_NONE);
}

/* From each sampler to each: an event before and behind each change, and one that the change overtakes. */
static const char *next;

static void change_inside(void)
{
	choose(next);
}

static void no_event_is_lost_when_the_sampler_changes(void **state)
{
	uint64_t events = 0, samples = 0;

	(void)state;
	start_alone();
	for (int i = 0; i < 9; i++) {
		next = samplers[i / 3];
		go_on(0);
		choose(next);
		go_on(3);
		events += 2 * CPUS;
		if (strcmp(next, "timer") == 0) {
			samples += CPUS * 2;	/* the first tick starts the grid */
			assert_int_equal(ktop->sampler, KTOP_TIMER);
		}
		next = samplers[i % 3];
		fake_port.at_clock = change_inside;
		ktop_trace_irq_exit(ktop, 1);
		events++;
		choose("none");
		settle();
		assert_int_equal(sum(ktop_taken, KTOP_TRACE), events);
	}
	assert_int_equal(sum(ktop_lost, KTOP_TRACE), 0);
	assert_int_equal(sum(ktop_taken, KTOP_SAMPLES), samples);
	assert_true(samples > 0);
	assert_int_equal(ktop->cpu[0].span[KTOP_TRACE - KTOP_SAMPLES], ktop->accounted - 1000000);
}

static void a_cpu_that_is_off_traces_nothing(void **state)
{
	(void)state;
	start_alone();
	done("cpu 2 off\n", "cpu 2 off");
	go_on(3);
	assert_true(ktop_taken(ktop, 1, KTOP_TRACE) == 1 && ktop_taken(ktop, 2, KTOP_TRACE) == 0);
	choose("timer");
	go_on(3);
	assert_true(ktop_taken(ktop, 2, KTOP_TRACE) == 0 && ktop_taken(ktop, 2, KTOP_SAMPLES) == 0);
	choose("none");
	done("cpu 2 on\n", "cpu 2 on");
	go_on(3);
	assert_true(ktop_taken(ktop, 1, KTOP_TRACE) == 3 && ktop_taken(ktop, 2, KTOP_TRACE) == 1);
	assert_int_equal(sum(ktop_lost, KTOP_TRACE), 0);
}

static void without_events_there_are_samples_alone(void **state)
{
	(void)state;
	done("start\n", "started");
	go_on(3);
	assert_int_equal(sum(ktop_taken, KTOP_TRACE), 0);
	assert_int_equal(sum(ktop_taken, KTOP_SAMPLES), 2 * CPUS);
}

static void a_hook_outside_the_guest_has_a_sampler(void **state)
{
	(void)state;
	boot_with(&(struct ktop_facts) { .cpus = CPUS, .boot_id = { 0xb0 }, .clock_hz = HZ, .outside = KTOP_OUTSIDE });
	refused("sampler none\n", "none: a hook outside the guest finds its kernel by samples");
	assert_int_equal(status().sampler, KTOP_OUTSIDE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_sampler_takes_no_sample_and_asks_for_nothing),
		TEST(what_is_on_is_told_for_each_stream),
		TEST(no_event_is_lost_when_the_sampler_changes),
		TEST(a_cpu_that_is_off_traces_nothing),
		TEST(without_events_there_are_samples_alone),
		TEST(a_hook_outside_the_guest_has_a_sampler),
	};

	return cmocka_run_group_tests_name("trace alone", tests, NULL, NULL);
}
