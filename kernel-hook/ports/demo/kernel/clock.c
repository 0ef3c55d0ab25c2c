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
#include "ports/demo/machine/x86.h"
#include "sched.h"
#include "thread.h"

/* The programmable interval timer (Intel 8254), whose rate is known on every PC. */
enum { PIT_RATE = 1193182, PIT_CHANNEL_2 = 0x42, PIT_COMMAND = 0x43, PIT_GATE = 0x61 };
enum { PIT_COUNT_DOWN = 0xb0, PIT_LATCH = 0x80, PIT_OVER = 0x20 };
enum { SECOND = 1000000000, TURN = 10000000 };	/* ns */

static uint64_t tsc_rate, apic_rate;
static uint64_t apic_per_tsc;		/* times 2^32 */

/* The three clocks at one moment, as nearly as they could be read. */
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

/* The narrowest of a few readings: this machine may be held up between any two instructions. */
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
 * Lets the PIT count down for 25 ms, and reads all clocks before and after. False: this machine was
 * held up meanwhile for so long that the count, of 55 ms, was over.
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
	return ns / SECOND * tsc_rate + ns % SECOND * tsc_rate / SECOND;
}

uint64_t clock_ns(uint64_t ticks)
{
	return ticks / tsc_rate * SECOND + ticks % tsc_rate * SECOND / tsc_rate;
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

/* A deadline that has passed fires at once. */
void clock_arm(void)
{
	const struct cpu *cpu = cpu_this();
	uint64_t due = earlier(cpu->next_tick, cpu->next_sample), now = clock_now(), ticks;

	if (cpu->sleepers != NULL)
		due = earlier(due, cpu->sleepers->wake);
	ticks = due > now ? ((due - now) * apic_per_tsc >> 32) + 1 : 1;
	apic_timer(ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX);
}

/* The CPUs' turns are spread over the period, so that they do not all come at the same moment. */
void clock_start(void)
{
	struct cpu *cpu = cpu_this();

	cpu->next_tick = clock_now() + clock_ticks(TURN + (uint64_t)TURN * cpu->number / CPU_MAX);
	clock_arm();
}

/* The sample comes first: after it, this CPU is no longer what it was when it was interrupted. */
void clock_interrupt(const struct frame *frame)
{
	struct cpu *cpu = cpu_this();
	struct ktop_regs regs = hook_regs(frame);
	uint64_t now = clock_now(), turn = clock_ticks(TURN);

	if (cpu->next_sample <= now)
		cpu->next_sample = 0;		/* ktop asks anew */
	ktop_tick(hook, &regs);
	cpu->halted = false;
	sched_wake_sleepers(now);
	if (now >= cpu->next_tick) {
		cpu->next_tick += (now - cpu->next_tick) / turn * turn + turn;
		sched_tick();
	}
	clock_arm();
}
