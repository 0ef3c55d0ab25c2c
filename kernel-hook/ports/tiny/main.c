/* SPDX-License-Identifier: MIT */
/*
 * A kernel of one CPU, one timer and three threads, to copy a port from. main.c is the kernel, boot.S has what C cannot
 * express, and port.c is the port.
 *
 *   make demo-kernel
 *   build/ktop run -- qemu-system-x86_64 -display none -kernel build/tiny/tiny.elf
 */
#include <stdint.h>

#include "../../arch.h"
#include "../template/alarm.h"
#include "../template/template.h"
#include "tiny.h"

enum { PIC = 0x20, PIC_MASK = 0x21, PIC_2_MASK = 0xa1, PIC_END = 0x20 };
enum { PIT_0 = 0x40, PIT_2 = 0x42, PIT_COMMAND = 0x43, PIT_GATE = 0x61 };
enum { PIT_0_ONCE = 0x30, PIT_2_ONCE = 0xb0, PIT_2_OVER = 0x20 };
enum { VECTOR_TIMER = 32, VECTORS = 48 };

#define LOOP(count) for (volatile uint32_t i = 0; i < (count); i++) continue

_Noreturn void main(void);
void timer_interrupt(const struct frame *frame);
extern const char stub_timer[], stub_other[], thread_begin[];	/* boot.S has these and the next */
void switch_stacks(uint64_t *save, uint64_t load);

static uint64_t clock_hz;

/* ---- time ---- */

void timer_set(uint32_t units)
{
	ktop_out8(PIT_COMMAND, PIT_0_ONCE);
	ktop_out8(PIT_0, (uint8_t)units);
	ktop_out8(PIT_0, (uint8_t)(units >> 8));
}

/* Returns the clock ticks in 50 ms, which the third counter of the PIT measures. */
static uint64_t measure_once(void)
{
	uint64_t begin;

	ktop_out8(PIT_GATE, 1);
	ktop_out8(PIT_COMMAND, PIT_2_ONCE);
	ktop_out8(PIT_2, TIMER_HZ / 20 & 0xff);
	ktop_out8(PIT_2, TIMER_HZ / 20 >> 8);
	begin = ktop_cycles();
	while (!(ktop_in8(PIT_GATE) & PIT_2_OVER))
		LOOP(1000);
	return ktop_cycles() - begin;
}

/* A host that stops the machine meanwhile makes a result too large, never too small: the least of four is right. */
static void measure_clock(void)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t hz = 20 * measure_once();

		clock_hz = i == 0 || hz < clock_hz ? hz : clock_hz;
	}
}

/* ---- threads: the first one in the list that is awake runs; the last one is always awake ---- */

/* 60, 30 and 10 percent of the worker's time. */
/* clang-format off */
static __attribute__((noinline)) void work_long(void) { LOOP(600000); }
static __attribute__((noinline)) void work_short(void) { LOOP(300000); }
static __attribute__((noinline)) void work_rare(void) { LOOP(100000); }
/* clang-format on */

static void work(void)
{
	for (;;) {
		work_long();
		work_short();
		work_rare();
		thread_sleep(5);
	}
}

static void idle(void)
{
	for (;;)
		__asm__ volatile("hlt");
}

static struct thread threads[] = {
	{ .name = "ktop", .run = hook_drain },
	{ .name = "worker", .run = work },
	{ .name = "idle", .run = idle },
};
enum { THREADS = sizeof(threads) / sizeof(threads[0]), IDLE = THREADS - 1 };

static struct thread *current = &threads[IDLE];

/* Interrupts off. */
static void schedule(void)
{
	struct thread *from = current, *to = threads;
	uint64_t now = ktop_port_clock(), next = KTOP_NEVER;

	for (; to->wake > now; to++)
		next = to->wake < next ? to->wake : next;
	hook_wake_at(next);
	if (to == from)
		return;
	current = to;
	ktop_current_set(&to->profiled);
	switch_stacks(&from->sp, to->sp);
}

void thread_sleep(uint32_t ms)
{
	unsigned long flags = ktop_mask();

	current->wake = ktop_port_clock() + ms * clock_hz / 1000;
	schedule();
	ktop_unmask(flags);
}

void thread_yield(void)
{
	thread_sleep(0);
}

/* Lays on the new stack what switch_stacks() takes off: r15 to r12, rbx, rbp, and the address to return to. */
static void make_thread(struct thread *thread, uint32_t id)
{
	uint64_t *top = (uint64_t *)(thread->stack + sizeof(thread->stack)) - 8;

	top[4] = (uintptr_t)thread->run;
	top[6] = (uintptr_t)thread_begin;
	thread->sp = (uintptr_t)top;
	hook_thread(thread, id);
}

/* ---- interrupts ---- */

void timer_interrupt(const struct frame *frame)
{
	ktop_out8(PIC, PIC_END);
	hook_tick(frame);
	schedule();
}

/* Intel SDM 3A, section 6.14.1. Exceptions have no gate: any exception resets the machine. */
static void start_interrupts(void)
{
	static struct {
		uint16_t low, selector;
		uint8_t stack, type;
		uint16_t middle;
		uint32_t high, reserved;
	} gates[VECTORS];
	const struct { uint16_t limit; void *base; } __attribute__((packed)) pointer = {
		sizeof(gates) - 1, gates,
	};

	for (uint32_t i = VECTOR_TIMER; i < VECTORS; i++) {
		uintptr_t stub = (uintptr_t)(i == VECTOR_TIMER ? stub_timer : stub_other);

		gates[i].low = (uint16_t)stub;
		gates[i].middle = (uint16_t)(stub >> 16);
		gates[i].selector = 0x08;
		gates[i].type = 0x8e;
	}
	__asm__ volatile("lidt %0" :: "m"(pointer));
	/* Intel 8259A: four bytes set it up; then only the timer's line is on. */
	ktop_out8(PIC, 0x11);
	ktop_out8(PIC_MASK, VECTOR_TIMER);
	ktop_out8(PIC_MASK, 4);
	ktop_out8(PIC_MASK, 1);
	ktop_out8(PIC_MASK, 0xfe);
	ktop_out8(PIC_2_MASK, 0xff);
}

/* Ends with a switch to the first thread: this stack is not used any more. */
_Noreturn void main(void)
{
	uint64_t sp;

	measure_clock();
	start_interrupts();
	hook_start(clock_hz);
	for (uint32_t i = 0; i < THREADS; i++)
		make_thread(&threads[i], i + 1);
	current->profiled.idle = true;	/* this thread only halts */
	ktop_current_set(&current->profiled);
	hook_wake_at(0);
	switch_stacks(&sp, current->sp);
	__builtin_unreachable();
}
