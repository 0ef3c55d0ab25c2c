/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "oracle.h"
#include "ports/demo/kernel/clock.h"
#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/mutex.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/machine/x86.h"
#include "spike.h"

enum { CALM = 2 * NS_PER_MS, PAUSE = 18 * NS_PER_MS, LOOPS = 1000 };

static struct mutex table;

static uint64_t now(void)
{
	return clock_ns(clock_now());
}

static void spike_calm(uint64_t end)
{
	while (now() < end)
		oracle_burn(LOOPS);
}

static void spike_burst(uint64_t end)
{
	while (now() < end)
		oracle_burn(LOOPS);
}

static void calm_run(void *argument)
{
	(void)argument;
	for (;;) {
		spike_calm(now() + CALM);
		sched_sleep(PAUSE);
	}
}

static void spike_run(void *argument)
{
	uint64_t from, to;

	(void)argument;
	for (;;) {
		sched_sleep(SPIKE_EVERY_NS - now() % SPIKE_EVERY_NS);
		mutex_lock(&table);
		from = now();
		spike_burst(from + SPIKE_NS);
		to = now();
		mutex_unlock(&table);
		print("spike: from=%lu to=%lu\n", from, to);
	}
}

static void client_run(void *argument)
{
	(void)argument;
	for (;;) {
		mutex_lock(&table);
		mutex_unlock(&table);
		sched_sleep(PAUSE);
	}
}

static void start(const char *name, void (*run)(void *argument), uint32_t cpu)
{
	struct thread_plan plan = { .name = name, .run = run, .pinned = cpu, .urgent = true };
	struct thread *thread = thread_new(&plan);

	if (thread == NULL)
		panic("no memory for the spikes");
	thread_start(thread);
}

void spike_start(void)
{
	mutex_init(&table, "table", -1);
	start("calm", calm_run, 0);
	start("spike", spike_run, cpu_count - 1);
	thread_spawn("client", client_run, NULL);
}
