/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <asm/tsc.h>

#include "counters.h"
#include "timer.h"

/* The counter of one CPU. Guarded by the lock, except `seed`. */
struct counter {
	bool on;			/* the CPU is online */
	struct perf_event *event;	/* NULL: it does not count */
	u32 seed;			/* written by the overflow's NMI alone */
};

static struct perf_event_attr counted = {
	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .size = sizeof(counted),
	.pinned = 1,
};

static DEFINE_PER_CPU(struct counter, counters);
static DEFINE_MUTEX(lock);
static u32 running;			/* the rate of all counters, 0: none counts; guarded by the lock */
static int hotplug;			/* the cpuhp state, which counters_stop() removes */

/* NMI. The next period is up to an eighth longer or shorter, so that overflows do not keep step with Linux' ticks. */
static void counter_overflow(struct perf_event *event, struct perf_sample_data *data,
	struct pt_regs *regs)
{
	u32 seed = this_cpu_read(counters.seed) * 1664525 + 1013904223;
	u64 period = event->attr.sample_period;

	this_cpu_write(counters.seed, seed);
	event->hw.sample_period = period - period / 8 + (((period / 4) * (seed >> 8)) >> 24);
	timer_overflow(regs);
}

static void end(unsigned int cpu)
{
	struct counter *counter = per_cpu_ptr(&counters, cpu);

	if (counter->event)
		perf_event_release_kernel(counter->event);
	counter->event = NULL;
}

/* 0, or a negative errno; -EBUSY: others use the PMU's counters. On an error the caller calls end(). */
static int begin(unsigned int cpu, u32 rate)
{
	struct perf_event *event;

	counted.sample_period = cpu_khz * 1000ull / rate;
	event = perf_event_create_kernel_counter(&counted, cpu, NULL, counter_overflow, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	per_cpu_ptr(&counters, cpu)->event = event;
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR ? -EBUSY : 0;
}

static void end_all(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		end(cpu);
	running = 0;
}

static int begin_all(u32 rate)
{
	unsigned int cpu;
	int error = 0;

	end_all();
	for_each_possible_cpu(cpu)
		if (per_cpu_ptr(&counters, cpu)->on && !error)
			error = begin(cpu, rate);
	if (error)
		end_all();
	else
		running = rate;
	return error;
}

const char *counters_run(uint32_t rate)
{
	const char *why;
	int error = 0;

	mutex_lock(&lock);
	if (rate)
		error = begin_all(rate);
	else
		end_all();
	mutex_unlock(&lock);
	if (!error)
		return NULL;
	why = error == -EBUSY ?
		"nmi: the PMU's counters are in use by others: the timer samples" :
		"nmi: this guest has no PMU, as -accel kvm -cpu host gives: the timer samples, and "
		"code with interrupts off is counted where they are enabled again";
	pr_warn("ktop: %s\n", why);
	return why;
}

/* A CPU that comes online and gets no counter is sampled by its timer alone: the hook then reports gaps. */
static int come_online(unsigned int cpu)
{
	mutex_lock(&lock);
	per_cpu_ptr(&counters, cpu)->on = true;
	if (running && begin(cpu, running))
		end(cpu);
	mutex_unlock(&lock);
	return 0;
}

static int go_offline(unsigned int cpu)
{
	mutex_lock(&lock);
	per_cpu_ptr(&counters, cpu)->on = false;
	end(cpu);
	mutex_unlock(&lock);
	return 0;
}

int counters_start(void)
{
	hotplug = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "ktop:counters", come_online, go_offline);
	return hotplug < 0 ? hotplug : 0;
}

void counters_stop(void)
{
	mutex_lock(&lock);
	end_all();
	mutex_unlock(&lock);
	cpuhp_remove_state(hotplug);
}
