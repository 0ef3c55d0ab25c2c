/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cost.h"
#include "hook.h"
#include "hotkeys.h"
#include "ktop.h"
#include "ports/demo/kernel/clock.h"
#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/hook_calls.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/machine/x86.h"
#include "trace.h"
#include "wire.h"

enum { TRIES = 15, PAUSE = NS_PER_MS };	/* PAUSE in ns */

/* A frame record, as ktop's walk finds it on a stack. */
struct record {
	const struct record *fp;
	uint64_t pc;
};

typedef void function(struct ktop *ktop, const struct ktop_regs *regs);

/* A function of one instruction, its return: the cost of a call. */
void cost_nothing(struct ktop *ktop, const struct ktop_regs *regs);
__asm__(".text\n\t.type cost_nothing, @function\ncost_nothing:\n\tret\n\t"
	".size cost_nothing, . - cost_nothing");

static __attribute__((noinline)) uint64_t call(function *called, const struct ktop_regs *regs)
{
	uint64_t start = clock_now();

	called(hook, regs);
	return clock_now() - start;
}

/* Clock ticks from the first instruction of ktop_tick() to its return. */
static uint64_t tick(const struct ktop_regs *regs)
{
	return call(ktop_tick, regs) - call(cost_nothing, regs) + 1;
}

/* Trace points as a kernel has them, each in a function that does nothing else; and pairs of them. */
static __attribute__((noinline)) void event_point(struct ktop *ktop, const struct ktop_regs *regs)
{
	(void)regs;
	ktop_trace_task_end(ktop, 5);
}

static __attribute__((noinline)) void irq_points(struct ktop *ktop, const struct ktop_regs *regs)
{
	(void)regs;
	ktop_trace_irq_enter(ktop, 3);
	ktop_trace_irq_exit(ktop, 3);
}

static __attribute__((noinline)) void call_points(struct ktop *ktop, const struct ktop_regs *regs)
{
	ktop_trace_syscall_enter(ktop, 5, 6, regs->pc, regs->sp, regs->fp, regs->pc, regs->sp, regs->fp);
	ktop_trace_syscall_exit(ktop, 5, 6, 7);
}

static uint64_t event(const struct ktop_regs *regs)
{
	return call(event_point, regs) - call(cost_nothing, regs) + 1;
}

static uint64_t interrupt(const struct ktop_regs *regs)
{
	return call(irq_points, regs) - call(cost_nothing, regs) + 1;
}

static uint64_t system_call(const struct ktop_regs *regs)
{
	return call(call_points, regs) - call(cost_nothing, regs) + 1;
}

/* Interrupts off. Takes the next sample here, in place of the timer's interrupt, and measures it. */
static uint64_t sample(const struct ktop_regs *regs)
{
	const struct cpu *cpu = cpu_this();

	while (clock_now() < cpu->next_sample)
		cpu_pause();
	return tick(regs);
}

/* The median of a few: some samples meet the end of the ring, and take longer. */
static uint64_t usual(uint64_t (*measure)(const struct ktop_regs *regs),
	const struct ktop_regs *regs)
{
	uint64_t sorted[TRIES];

	for (uint32_t i = 0; i < TRIES; i++) {
		unsigned long flags = irq_save();
		uint64_t ticks = measure(regs);
		uint32_t at = i;

		irq_restore(flags);
		for (; at > 0 && sorted[at - 1] > ticks; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = ticks;
	}
	return sorted[TRIES / 2];
}

static void cost_run(void *argument);

static __attribute__((noinline)) uint64_t behind_call(void)
{
	return (uint64_t)__builtin_return_address(0);
}

/* `caller`: behind a call, as a caller's address has to be. */
static void measure_frames(uint32_t frames, uint64_t caller)
{
	struct record records[KTOP_FRAMES_MAX];
	struct ktop_regs regs = { .pc = (uint64_t)cost_run, .sp = (uint64_t)records };

	for (uint32_t i = 1; i < frames; i++)
		records[i - 1] = (struct record) {
			.fp = i + 1 < frames ? &records[i] : NULL, .pc = caller,
		};
	regs.fp = frames > 1 ? (uint64_t)records : 0;
	print("cost: frames=%u ticks=%lu\n", frames, usual(sample, &regs));
}

static void press(uint8_t key)
{
	const uint8_t keys[] = { KTOP_KEY_CTRL, KTOP_KEY_ALT, key };
	unsigned long flags = irq_save();

	for (uint32_t i = 0; i < sizeof(keys); i++)
		ktop_serio(hook, 0, keys[i]);
	irq_restore(flags);
}

/* Chooses all trace events, as `events +all` does. That takes effect at a start: profiling is stopped and started. */
static void trace_all(void)
{
	press(KTOP_KEY_OFF);
	while (ktop_running(hook))
		sched_sleep(PAUSE);
	hook->control.events[KTOP_TRACE_FIRST / 32] = ~0u;
	hook->control.event_words = KTOP_TRACE_FIRST / 32 + 1;
	press(KTOP_KEY_ON);
	while (!ktop_running(hook))
		sched_sleep(PAUSE);
}

static uint64_t work(void)
{
	uint64_t start = clock_now(), loops = clock_rate() / 4;

	while (loops-- > 0)
		__asm__ volatile("" : "+r"(loops));
	return clock_now() - start;
}

static void cost_run(void *argument)
{
	static const uint32_t frames[] = { 1, 4, 8, 12, 24, 48 };
	const struct ktop_regs none = { .user = false };
	uint64_t alone;

	(void)argument;
	alone = work();
	print("cost: clock=%lu\n", clock_rate());
	print("cost: off=%lu\n", usual(tick, &none));
	print("cost: trace=off event=%lu irq=%lu call=%lu\n", usual(event, &none), usual(interrupt, &none),
		usual(system_call, &none));
	press(KTOP_KEY_ON);
	while (cpu_this()->next_sample == 0)
		sched_sleep(PAUSE);
	for (uint32_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		measure_frames(frames[i], behind_call());
	print("cost: work=%lu sampled=%lu\n", alone, work());
	trace_all();
	print("cost: trace=on event=%lu irq=%lu call=%lu\n", usual(event, &none), usual(interrupt, &none),
		usual(system_call, &none));
	hook->stacks[KTOP_TRACE_FIRST / 32] = hook->careful[KTOP_TRACE_FIRST / 32] = ~0u;
	hook->stack_frames = KTOP_STACK_FRAMES;
	print("cost: stack=on event=%lu\ncost: end\n", usual(event, &none));
	sched_sleep(100 * PAUSE);
	press(KTOP_KEY_OFF);
}

void cost_start(void)
{
	struct thread_plan plan = { .name = "cost", .run = cost_run };
	struct thread *thread = thread_new(&plan);

	if (thread == NULL)
		panic("no memory for the cost");
	thread_start(thread);
}
