/* SPDX-License-Identifier: MIT */
/* The port of this kernel: all that it does beside the template. */
#include <stdint.h>

#include "../../ktop.h"
#include "../../port.h"
#include "../../wire.h"
#include "../template/alarm.h"
#include "../template/template.h"
#include "tiny.h"

static struct ktop *ktop;
static struct ktop_alarm alarm;

void hook_start(uint64_t clock_hz)
{
	ktop_alarm_init(&alarm, clock_hz, TIMER_HZ, TIMER_MOST);
	ktop = ktop_start(&(struct ktop_facts) {
		.kernel = "tiny", .version = "1", .clock_hz = clock_hz,
	}, NULL);
}

void hook_thread(struct thread *thread, uint32_t id)
{
	ktop_current_init(&thread->profiled, id, thread->stack, sizeof(thread->stack));
	ktop_thread(ktop, id, KTOP_KERNEL, thread->name);
}

void hook_drain(void)
{
	ktop_drainer(ktop, thread_yield, thread_sleep);
}

void hook_tick(const struct frame *frame)
{
	struct ktop_regs regs = { .pc = frame->rip, .sp = frame->rsp, .fp = frame->rbp };

	ktop_alarm_met(&alarm, ktop_port_clock());
	ktop_tick(ktop, &regs);		/* the scheduler sets the timer at its end */
}

void hook_wake_at(uint64_t clock)
{
	alarm.kernel = clock;
	timer_set(ktop_alarm_units(&alarm, ktop_port_clock()));
}

void ktop_port_timer(uint64_t deadline)
{
	alarm.sample = deadline;
}

void ktop_port_kick(uint32_t cpu)
{
	unsigned long flags = ktop_port_irq_save();

	(void)cpu;			/* there is one CPU: its timer fires at once */
	timer_set(1);
	ktop_port_irq_restore(flags);
}
