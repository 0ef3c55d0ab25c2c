/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle.h"
#include "ports/demo/kernel/clock.h"
#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/acpi.h"
#include "ports/demo/machine/command.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/machine/time.h"

/*
 * The time with interrupts off is 2.5 ms at once, so that a 997 Hz timer cannot see it. Its share is 150 of 1000, so
 * the period is 16.7 ms, which is no multiple of the scheduler's 10 ms.
 */
enum { PERIOD = 16666667, LOOPS_MEASURED = 1000000, PATH_MAX = 3 };

static uint64_t loops_per_ms;
static uint64_t changes;		/* when the shares change, by the clock; UINT64_MAX: never */

/* Leaves the CPU idle for as long as the loop would take. */
static void oracle_rest(uint64_t loops)
{
	sched_sleep(loops * NS_PER_MS / loops_per_ms);
}

/* `path`: functions on the stack, from oracle_period() to the one that takes the time. */
static const struct shape {
	void (*run)(uint64_t loops);
	uint32_t share, later;		/* of 1000; from the change on */
	const char *path[PATH_MAX];
} shapes[] = {
	{ oracle_flat, 220, 120, { "oracle_period", "oracle_flat" } },
	{ oracle_recurse, 160, 160, { "oracle_period", "oracle_recurse" } },
	{ oracle_deep_20, 140, 240, { "oracle_period", "oracle_deep_1", "oracle_deep" } },
	{ oracle_jump, 130, 0, { "oracle_period", "oracle_tail" } },
	{ oracle_left, 60, 120, { "oracle_period", "oracle_left", "oracle_shared" } },
	{ oracle_right, 140, 40, { "oracle_period", "oracle_right", "oracle_shared" } },
	{ oracle_masked, 150, 80, { "oracle_period", "oracle_masked", "oracle_irqoff" } },
	{ oracle_late, 0, 110, { "oracle_period", "oracle_late" } },
	{ oracle_rest, 0, 130, { "oracle_period", "oracle_rest" } },
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* What was really done on a CPU. Written by its thread. */
static struct truth {
	uint64_t ticks[SHAPES], calls[SHAPES];
	uint64_t loops[SHAPES];		/* turns of the loop in all calls */
} truths[CPU_MAX];

/* Measures each shape from outside: beside its loop, a shape takes only a few instructions a call. */
static void oracle_period(struct truth *truth)
{
	bool changed = clock_now() >= changes;

	for (uint32_t i = 0; i < SHAPES; i++) {
		uint32_t share = changed ? shapes[i].later : shapes[i].share;
		uint64_t loops = loops_per_ms * PERIOD / NS_PER_MS * share / 1000;
		uint64_t start = thread_clock();

		if (share == 0)
			continue;
		shapes[i].run(loops);
		truth->ticks[i] += thread_clock() - start;
		truth->calls[i]++;
		truth->loops[i] += loops;
	}
}

static void oracle_run(void *argument)
{
	for (;;)
		oracle_period(argument);
}

/* The quickest of a few tries is right: the host has stopped the machine in the others. */
static void measure_loops(void)
{
	uint64_t best = UINT64_MAX;

	for (uint32_t i = 0; i < 5; i++) {
		uint64_t start = thread_clock(), ticks;

		oracle_burn(LOOPS_MEASURED);
		ticks = thread_clock() - start;
		if (ticks < best)
			best = ticks;
	}
	loops_per_ms = LOOPS_MEASURED * (clock_rate() / 1000) / best;
}

/* ---- the report ---- */

static struct truth sum(void)
{
	struct truth all = { .ticks = { 0 } };

	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		for (uint32_t i = 0; i < SHAPES; i++) {
			all.ticks[i] += truths[cpu].ticks[i];
			all.calls[i] += truths[cpu].calls[i];
			all.loops[i] += truths[cpu].loops[i];
		}
	}
	return all;
}

static const char *leaf(const struct shape *shape)
{
	return shape->path[shape->path[PATH_MAX - 1] != NULL ? PATH_MAX - 1 : PATH_MAX - 2];
}

/* The index of a function in a shape's path, behind oracle_period(); 0: it is not there. */
static uint32_t place(const struct shape *shape, const char *name)
{
	for (uint32_t i = 1; i < PATH_MAX && shape->path[i] != NULL; i++) {
		if (text_same(shape->path[i], name))
			return i;
	}
	return 0;
}

static void report_function(const struct truth *truth, const char *name)
{
	uint64_t self = 0, total = 0, calls = 0, loops = 0;
	const char *mark = " callers=";

	for (uint32_t i = 0; i < SHAPES; i++) {
		if (place(&shapes[i], name) == 0)
			continue;
		if (text_same(leaf(&shapes[i]), name)) {
			self += truth->ticks[i];
			loops += truth->loops[i];
		}
		total += truth->ticks[i];
		calls += truth->calls[i];
	}
	print("oracle: name=%s self=%lu loops=%lu total=%lu calls=%lu", name, self, loops, total, calls);
	for (uint32_t i = 0; i < SHAPES; i++) {
		uint32_t at = place(&shapes[i], name);

		if (at > 0) {
			print("%s%s:%lu", mark, shapes[i].path[at - 1], truth->ticks[i]);
			mark = ",";
		}
	}
	print("\n");
}

static void report(uint32_t second, uint64_t elapsed)
{
	static const char *const names[] = {
		"oracle_flat", "oracle_recurse", "oracle_deep", "oracle_deep_1", "oracle_tail",
		"oracle_shared", "oracle_left", "oracle_right", "oracle_irqoff", "oracle_masked", "oracle_late",
	};
	struct truth truth = sum();

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		report_function(&truth, names[i]);
	print("oracle: end second=%u clock=%lu cpus=%u elapsed=%lu\n", second, clock_rate(),
		cpu_count, elapsed);
}

static void oracle_report(void *argument)
{
	uint32_t seconds = command_number("oracle.seconds");
	uint64_t start = clock_now();

	(void)argument;
	print("oracle: begin at=%lu\n", clock_ns(start));
	for (uint32_t second = 1; seconds == 0 || second <= seconds; second++) {
		uint64_t due = start + second * clock_rate(), now = clock_now();

		if (due > now)
			sched_sleep(clock_ns(due - now));
		report(second, clock_now() - start);
	}
	acpi_power_off();
}

void oracle_start(void)
{
	struct thread_plan plan = { .name = "oracle", .run = oracle_run };
	uint32_t change = command_number("oracle.change");

	measure_loops();
	changes = change == 0 ? UINT64_MAX : clock_now() + change * clock_rate();
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		struct thread *thread;

		plan.pinned = cpu;
		plan.argument = &truths[cpu];
		thread = thread_new(&plan);
		if (thread == NULL)
			panic("no memory for the oracle");
		thread_start(thread);
	}
	thread_spawn("oracle-report", oracle_report, NULL);
}
