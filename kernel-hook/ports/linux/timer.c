/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <asm/irq_regs.h>

#include "ktop.h"
#include "port.h"
#include "timer.h"

struct ticker {
	struct hrtimer timer;
	bool on;			/* the timer may be started; written by its CPU */
	u64 deadline;			/* clock value at which the hook wants its next tick; 0: none */
	struct pt_regs *regs;		/* of the interrupted code; NULL outside ktop_tick() and ktop_overflow() */
};

static DEFINE_PER_CPU(struct ticker, tickers);
static struct ktop *sampled;		/* the hook; fixed while tickers are on */
static int hotplug;			/* the cpuhp state, which timer_stop() removes */

/* An overflow may interrupt a tick in here: the registers of the tick are put back. */
static __always_inline void sample(void (*call)(struct ktop *ktop, const struct ktop_regs *regs),
	struct pt_regs *interrupted)
{
	struct pt_regs *before = this_cpu_read(tickers.regs);
	struct ktop_regs regs = {
		.pc = interrupted->ip, .sp = interrupted->sp, .fp = interrupted->bp,
		.user = user_mode(interrupted),
	};

	this_cpu_write(tickers.regs, interrupted);
	call(sampled, &regs);
	this_cpu_write(tickers.regs, before);
}

void timer_overflow(struct pt_regs *interrupted)
{
	if (this_cpu_read(tickers.on))
		sample(ktop_overflow, interrupted);
}

static void tick(struct ticker *this, struct pt_regs *interrupted)
{
	if (hrtimer_get_expires_ns(&this->timer) == this->deadline)
		this->deadline = 0;		/* met: the hook sets a new one in ktop_tick() */
	sample(ktop_tick, interrupted);
}

/* An hrtimer runs in an interrupt. In a kernel where it does not, there are no registers: it tries again in 1 ms. */
static enum hrtimer_restart fire(struct hrtimer *timer)
{
	struct ticker *this = container_of(timer, struct ticker, timer);
	struct pt_regs *interrupted = get_irq_regs();

	if (interrupted)
		tick(this, interrupted);
	else
		this->deadline = ktop_port_clock() + NSEC_PER_MSEC;
	if (!this->deadline)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(this->deadline));
	return HRTIMER_RESTART;
}

struct pt_regs *timer_regs(void)
{
	return this_cpu_read(tickers.regs);
}

void ktop_port_timer(uint64_t deadline)
{
	this_cpu_write(tickers.deadline, deadline);
}

/* Starts the timer with a tick at once. In that tick the hook says when it wants the next one. */
static void start_here(void *unused)
{
	struct ticker *this = this_cpu_ptr(&tickers);

	if (this->on)
		hrtimer_start(&this->timer, 0, HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Waits for the call, so that none is under way when the module is unloaded. An offline CPU is not called. */
void ktop_port_kick(uint32_t cpu)
{
	smp_call_function_single(cpu, start_here, NULL, 1);
}

/* Both run on the CPU itself, which takes no kick meanwhile. 0: it went well. */
static int come_online(unsigned int cpu)
{
	struct ticker *this = this_cpu_ptr(&tickers);

	hrtimer_init(&this->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	this->timer.function = fire;
	WRITE_ONCE(this->on, true);
	hrtimer_start(&this->timer, 0, HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}

static int go_offline(unsigned int cpu)
{
	struct ticker *this = this_cpu_ptr(&tickers);

	WRITE_ONCE(this->on, false);
	hrtimer_cancel(&this->timer);
	return 0;
}

int timer_start(struct ktop *ktop)
{
	sampled = ktop;
	hotplug = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "ktop:online", come_online, go_offline);
	return hotplug < 0 ? hotplug : 0;
}

void timer_stop(void)
{
	cpuhp_remove_state(hotplug);
}
