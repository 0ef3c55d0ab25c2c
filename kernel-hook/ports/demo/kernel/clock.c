/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "cpu.h"
#include "hook_calls.h"
#include "ktop.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/machine/x86.h"
#include "sched.h"
#include "thread.h"

/* The programmable interval timer (Intel 8254): it has the same rate on every PC. */
enum { PIT_RATE = 1193182, PIT_CHANNEL_2 = 0x42, PIT_COMMAND = 0x43, PIT_GATE = 0x61 };
enum { PIT_COUNT_DOWN = 0xb0, PIT_LATCH = 0x80, PIT_OVER = 0x20 };
enum { TURN = 10 * NS_PER_MS };	/* ns */

static uint64_t tsc_rate, apic_rate;
static uint64_t apic_per_tsc;		/* times 2^32 */

/* The three clocks at one moment; `width`: TSC ticks that the reading took. */
struct moment {
	uint64_t tsc, width;
	uint32_t pit, apic;
};

static uint32_t pit_read(void)
{
	uint32_t low;

	out8(PIT_COMMAND, PIT_LATCH);
	low = in8(PIT_CHANNEL_2);
	return low | (uint32_t)in8(PIT_CHANNEL_2) << 8;
}

/* The quickest of a few readings, since the host may stop this machine between any two instructions. */
static struct moment moment_now(void)
{
	struct moment best = { .width = UINT64_MAX };

	for (uint32_t i = 0; i < 16; i++) {
		uint64_t before = clock_now();
		struct moment now = { .pit = pit_read(), .apic = apic_timer_left() };

		now.tsc = clock_now();
		now.width = now.tsc - before;
		if (now.width < best.width)
			best = now;
	}
	return best;
}

/*
 * Lets the PIT count down for 25 ms, and reads all clocks before and after. False: the host stopped this machine for so
 * long that the PIT reached the end of its count, which takes 55 ms.
 */
static bool measure(void)
{
	struct moment first, last;
	uint64_t pit;

	out8(PIT_GATE, (in8(PIT_GATE) & ~2) | 1);
	out8(PIT_COMMAND, PIT_COUNT_DOWN);
	out8(PIT_CHANNEL_2, 0xff);
	out8(PIT_CHANNEL_2, 0xff);
	apic_timer(UINT32_MAX);
	first = moment_now();
	while (first.pit - pit_read() < PIT_RATE / 40)
		cpu_pause();
	last = moment_now();
	apic_timer(0);
	if (in8(PIT_GATE) & PIT_OVER)
		return false;
	pit = first.pit - last.pit;
	tsc_rate = (last.tsc - first.tsc) * PIT_RATE / pit;
	apic_rate = (uint64_t)(first.apic - last.apic) * PIT_RATE / pit;
	apic_per_tsc = (apic_rate << 32) / tsc_rate;
	return true;
}

void clock_measure(void)
{
	for (uint32_t tries = 0; !measure(); tries++) {
		if (tries == 100)
			panic("no clock to measure by");
	}
}

uint64_t clock_rate(void)
{
	return tsc_rate;
}

uint64_t clock_ticks(uint64_t ns)
{
	return ns / NS_PER_SECOND * tsc_rate + ns % NS_PER_SECOND * tsc_rate / NS_PER_SECOND;
}

uint64_t clock_ns(uint64_t ticks)
{
	return ticks / tsc_rate * NS_PER_SECOND + ticks % tsc_rate * NS_PER_SECOND / tsc_rate;
}

void clock_spin(uint64_t ns)
{
	uint64_t end = clock_now() + clock_ticks(ns);

	while (clock_now() < end)
		cpu_pause();
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return b == 0 || (a != 0 && a < b) ? a : b;
}

/* A deadline that has passed makes the timer fire at once. */
void clock_arm(void)
{
	const struct cpu *cpu = cpu_this();
	uint64_t due = earlier(cpu->next_tick, cpu->next_sample), now = clock_now(), ticks;

	if (cpu->sleepers != NULL)
		due = earlier(due, cpu->sleepers->wake);
	ticks = due > now ? ((due - now) * apic_per_tsc >> 32) + 1 : 1;
	apic_timer(ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX);
}

/* Each CPU's turns begin at another moment, so that not all CPUs switch threads at once. */
void clock_start(void)
{
	struct cpu *cpu = cpu_this();

	cpu->next_tick = clock_now() + clock_ticks(TURN + (uint64_t)TURN * cpu->number / CPU_MAX);
	clock_arm();
}

/* The sample comes first: the rest changes what this CPU was doing when it was interrupted. */
void clock_interrupt(const struct frame *frame)
{
	struct cpu *cpu = cpu_this();
	struct ktop_regs regs = hook_regs(frame);
	uint64_t now = clock_now(), turn = clock_ticks(TURN);

	if (cpu->next_sample <= now)
		cpu->next_sample = 0;		/* met: ktop_tick() sets a new one */
	ktop_tick(hook, &regs);
	cpu->halted = false;
	sched_wake_sleepers(now);
	if (now >= cpu->next_tick) {
		cpu->next_tick += (now - cpu->next_tick) / turn * turn + turn;
		sched_tick();
	}
	clock_arm();
}
