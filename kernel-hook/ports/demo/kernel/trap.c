/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "cpu.h"
#include "hook_calls.h"
#include "keyboard.h"
#include "ktop.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/vector.h"
#include "ports/demo/machine/x86.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "trace.h"
#include "trap.h"
#include "wire.h"

/* An entry of the interrupt table, Intel SDM 3A, section 6.14.1. */
struct gate {
	uint16_t low, selector;
	uint8_t stack, type;
	uint16_t middle;
	uint32_t high, reserved;
};

enum { VECTORS = 256, STUB_SIZE = 16, INTERRUPT_GATE = 0x8e };

static struct gate gates[VECTORS];

static void set_gate(uint32_t vector, uint8_t stack)
{
	uint64_t stub = (uint64_t)entry_stubs + STUB_SIZE * vector;

	gates[vector] = (struct gate) {
		.low = (uint16_t)stub, .middle = (uint16_t)(stub >> 16),
		.high = (uint32_t)(stub >> 32),
		.selector = KERNEL_CODE, .type = INTERRUPT_GATE, .stack = stack,
	};
}

void trap_start(void)
{
	struct {
		uint16_t limit;
		void *base;
	} __attribute__((packed)) pointer = { sizeof(gates) - 1, gates };

	for (uint32_t vector = 0; vector < VECTORS; vector++)
		set_gate(vector, vector == VECTOR_NMI ? 1 : vector == VECTOR_DOUBLE_FAULT ? 2 : 0);
	__asm__ volatile("lidt %0" :: "m"(pointer));
}

/*
 * All gates turn interrupts off, so traps of a thread nest only where C turns interrupts on again. An NMI may still
 * come at any instruction.
 *
 * An exception in a program ends the program; one in the kernel ends the kernel.
 */
static void exception(struct frame *frame)
{
	if (!frame_user(frame))
		panic("exception %u at %lx, address %lx, error %lx, thread %s",
			(uint32_t)frame->vector, frame->rip, fault_address(), frame->error,
			thread_current()->name);
	if (frame->vector == VECTOR_PAGE_FAULT) {
		ktop_trace_fault(hook, thread_current()->id, fault_address(), frame->rip, frame->error >> 1 & 1);
		if (process_fault(fault_address()))
			return;
	}
	process_fail(frame);
}

/* The handler of an interrupt or NMI begins. Returns what its end has to put back, since handlers nest. */
static uint8_t begin_handler(struct cpu *cpu)
{
	uint8_t outer = cpu->interrupted;

	cpu->interrupted = cpu->handlers++ > 0 ? KTOP_IRQ : KTOP_TASK;
	return outer;
}

static void end_handler(struct cpu *cpu, uint8_t outer)
{
	cpu->handlers--;
	cpu->interrupted = outer;
}

static void interrupt(struct frame *frame)
{
	uint32_t irq = (uint32_t)frame->vector - VECTOR_CLOCK;
	struct cpu *cpu = cpu_this();
	uint8_t outer = begin_handler(cpu);

	ktop_trace_irq_enter(hook, irq);
	if (frame->vector == VECTOR_CLOCK || frame->vector == VECTOR_KICK)
		clock_interrupt(frame);
	else
		cpu->halted = false;
	if (frame->vector == VECTOR_KEYBOARD || frame->vector == VECTOR_MOUSE)
		keyboard_interrupt();
	if (frame->vector != VECTOR_SPURIOUS)
		apic_done();
	ktop_trace_irq_exit(hook, irq);
	end_handler(cpu, outer);
	/* Preemption: the frame stays on this thread's stack until the thread runs again. */
	if (cpu->resched && thread_current()->unpreemptible == 0)
		sched_switch();
}

/*
 * The time in here is not the thread's own; another thread may even run in it. The outermost trap counts it as stolen,
 * and thread_clock() leaves it out.
 */
void trap_handle(struct frame *frame)
{
	struct thread *thread = thread_current();
	uint64_t start = clock_now();

	thread->traps++;
	if (frame->vector < VECTOR_CLOCK)
		exception(frame);
	else
		interrupt(frame);
	if (thread->traps == 1)
		thread->stolen += clock_now() - start;
	thread->traps--;
	if (frame->rflags & FLAG_INTERRUPTS)
		traced_irqs_on();
}

/*
 * No lock, no fault and no other interrupt in here. This is not the thread's stack, so thread_current() would be wrong.
 * The interrupted thread's time is counted as stolen, unless a trap of that thread counts it already.
 */
void trap_nmi(struct frame *frame)
{
	uint64_t start = clock_now();
	struct ktop_regs regs = hook_regs(frame);
	struct cpu *cpu = cpu_this();
	struct thread *thread = cpu->current;
	uint8_t outer = begin_handler(cpu);

	ktop_nmi(hook, &regs);	/* this kernel has no other NMIs; an unknown one is ignored */
	end_handler(cpu, outer);
	if (thread->traps == 0)
		thread->stolen += clock_now() - start;
}
