/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "cpu.h"
#include "hook_calls.h"
#include "ktop.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/preempt.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/sync.h"
#include "ports/demo/machine/x86.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "trace.h"

/* ---- lists ---- */

static void append(struct thread **head, struct thread **tail, struct thread *thread)
{
	thread->next = NULL;
	if (*head == NULL)
		*head = thread;
	else
		(*tail)->next = thread;
	*tail = thread;
}

static struct thread *take_first(struct thread **head)
{
	struct thread *thread = *head;

	if (thread != NULL)
		*head = thread->next;
	return thread;
}

/* ---- the queues ---- */

static uint32_t load(const struct cpu *cpu)
{
	return cpu->queue.length + (cpu->current != cpu->idle);
}

static bool usable(const struct cpu *cpu)
{
	return !ktop_set_aside(hook, cpu->number);
}

/* The CPU for a ready thread: the one where it ran last, unless another one has less to do. */
static struct cpu *place(const struct thread *thread)
{
	struct cpu *best = &cpus[thread->cpu];

	if (thread->pinned != THREAD_ANY_CPU)
		return &cpus[thread->pinned];
	for (uint32_t i = 0; i < cpu_count; i++) {
		if (usable(&cpus[i]) && (!usable(best) || load(&cpus[i]) < load(best)))
			best = &cpus[i];
	}
	return best;
}

/* The thread is in no list, and will run on this CPU. Before it has run for the first time, it leaves none. */
static void move_to(struct thread *thread, const struct cpu *cpu)
{
	if (thread->ran && thread->cpu != cpu->number)
		ktop_trace_sched_migrate(hook, thread->id, cpu->number);
	thread->cpu = cpu->number;
}

static void enqueue(struct thread *thread)
{
	struct cpu *cpu = place(thread);
	unsigned long flags = spin_lock_irq(&cpu->queue.lock);

	move_to(thread, cpu);
	if (thread->urgent && cpu->queue.head != NULL) {
		thread->next = cpu->queue.head;
		cpu->queue.head = thread;
	} else {
		append(&cpu->queue.head, &cpu->queue.tail, thread);
	}
	cpu->queue.length++;
	spin_unlock_irq(&cpu->queue.lock, flags);
	if (thread->urgent || cpu->current == cpu->idle) {
		cpu->resched = true;
		if (cpu != cpu_this())
			apic_kick(cpu->apic);
	}
}

/* Takes the first thread of the queue; if `movable`, the first that is not pinned. NULL: there is none. */
static struct thread *dequeue(struct cpu *cpu, bool movable)
{
	unsigned long flags = spin_lock_irq(&cpu->queue.lock);
	struct thread **link = &cpu->queue.head, *before = NULL, *thread;

	while (*link != NULL && movable && (*link)->pinned != THREAD_ANY_CPU) {
		before = *link;
		link = &before->next;
	}
	thread = take_first(link);
	if (thread != NULL) {
		cpu->queue.length--;
		if (cpu->queue.tail == thread)
			cpu->queue.tail = before;
	}
	spin_unlock_irq(&cpu->queue.lock, flags);
	return thread;
}

/* Takes a thread from the longest queue. Lengths are read without the lock: a wrong one costs a look in vain. */
static struct thread *steal(const struct cpu *thief)
{
	struct cpu *victim = NULL;

	for (uint32_t i = 0; i < cpu_count; i++) {
		if (&cpus[i] != thief && cpus[i].queue.length > 0 &&
				(victim == NULL || cpus[i].queue.length > victim->queue.length))
			victim = &cpus[i];
	}
	return victim == NULL ? NULL : dequeue(victim, true);
}

static struct thread *pick(struct cpu *cpu)
{
	struct thread *thread;

	if (!usable(cpu))
		return cpu->idle;
	thread = dequeue(cpu, false);
	if (thread == NULL && cpu->current == cpu->idle)
		thread = steal(cpu);
	return thread;
}

/* ---- switching ---- */

/*
 * Runs on the new thread's stack. The old thread's stack is not used any more, so only now may another CPU run the old
 * thread: if it was preempted, it becomes ready here and not before.
 */
void sched_arrived(void)
{
	struct cpu *cpu = cpu_this();
	struct thread *left = cpu->previous;
	bool ready = left->state == THREAD_READY && left != cpu->idle;
	bool dead = left->state == THREAD_DEAD;

	sync_leave(&left->on_cpu);
	if (ready)
		enqueue(left);
	else if (dead)
		thread_free(left);
}

static uint8_t traced_leaves(const struct thread *thread)
{
	return thread->state == THREAD_READY ? KTOP_LEAVES_READY :
		thread->state == THREAD_DEAD ? KTOP_LEAVES_DEAD : KTOP_LEAVES_BLOCKED;
}

/*
 * Interrupts off. An NMI may come between any two lines, when stack and address space are not yet both those of
 * `current`. So port.c compares the address space with the thread's, and the hook the stack pointer.
 */
static void switch_to(struct cpu *cpu, struct thread *to)
{
	struct thread *from = cpu->current;

	move_to(to, cpu);
	to->ran = true;
	ktop_trace_sched_switch(hook, hook_traced(from), hook_traced(to), traced_leaves(from));
	cpu->previous = from;
	cpu->halted = false;
	cpu->kernel_stack = cpu->state.rsp[0] = (uint64_t)to + STACK_SIZE;
	to->on_cpu = true;
	process_enter_space(to->process);
	cpu->current = to;
	thread_switch(&from->sp, to->sp);
	sched_arrived();
}

void sched_switch(void)
{
	struct cpu *cpu = cpu_this();
	struct thread *from = cpu->current, *to;

	cpu->resched = false;
	to = pick(cpu);
	if (to == NULL)
		to = from->state == THREAD_READY ? from : cpu->idle;
	if (to != from)
		switch_to(cpu, to);
}

void sched_wake(struct thread *thread)
{
	/*
	 * Another CPU may still be leaving the thread's stack. It is never this CPU: interrupts are off from where a
	 * thread enters a list until its stack is left.
	 */
	while (sync_is_used(&thread->on_cpu))
		cpu_pause();
	thread->state = THREAD_READY;
	ktop_trace_sched_wake(hook, thread->id, cpu_this()->handlers ? KTOP_NO_THREAD : thread_current()->id);
	enqueue(thread);
}

void sched_yield(void)
{
	irq_off();
	sched_switch();
	irq_on();
}

void preempt_off(void)
{
	thread_current()->unpreemptible++;
}

void preempt_on(void)
{
	if (--thread_current()->unpreemptible == 0 && cpu_this()->resched && irq_is_on())
		sched_yield();
}

/* ---- waiting ---- */

void sched_wait(struct wait *wait, struct spin *lock)
{
	struct thread *thread = thread_current();

	append(&wait->head, &wait->tail, thread);
	thread->state = THREAD_WAITING;
	spin_unlock_irq(lock, 0);	/* 0: interrupts stay off */
	sched_switch();
	spin_lock_irq(lock);
}

bool sched_wake_one(struct wait *wait)
{
	struct thread *thread = take_first(&wait->head);

	if (thread != NULL)
		sched_wake(thread);
	return thread != NULL;
}

void sched_sleep(uint64_t ns)
{
	struct thread *thread = thread_current(), **link;
	struct cpu *cpu;

	irq_off();
	cpu = cpu_this();
	thread->wake = clock_now() + clock_ticks(ns);
	thread->state = THREAD_WAITING;
	for (link = &cpu->sleepers; *link != NULL && (*link)->wake <= thread->wake;)
		link = &(*link)->next;
	thread->next = *link;
	*link = thread;
	clock_arm();
	sched_switch();
	irq_on();
}

void sched_wake_sleepers(uint64_t now)
{
	struct cpu *cpu = cpu_this();

	while (cpu->sleepers != NULL && cpu->sleepers->wake <= now)
		sched_wake(take_first(&cpu->sleepers));
}

void sched_tick(void)
{
	struct cpu *cpu = cpu_this();

	if (cpu->current->guard != THREAD_GUARD)
		panic("stack overflow in thread %s", cpu->current->name);
	if (cpu->queue.length > 0 || !usable(cpu))
		cpu->resched = true;
}

/* ---- idling ---- */

/* Interrupts off. On the CPU that is set aside: sends its threads to other CPUs, and runs ktop_pace(). */
static void pace(struct cpu *cpu)
{
	struct thread *thread;
	uint64_t next;

	while ((thread = dequeue(cpu, true)) != NULL)
		enqueue(thread);
	next = ktop_pace(hook);
	cpu->next_sample = next;
	clock_arm();
	if (next > clock_now())
		irq_on_and_halt();
}

/* Interrupts off. Halts until an interrupt comes; the interrupt clears the mark. */
static void halt(struct cpu *cpu)
{
	cpu->halted = true;
	irq_on_and_halt();
	irq_off();
	cpu->halted = false;
}

_Noreturn void sched_idle(void)
{
	struct cpu *cpu = cpu_this();

	for (;;) {
		irq_off();
		if (!usable(cpu))
			pace(cpu);
		else if (sched_switch(), !cpu->resched && cpu->queue.length == 0)
			halt(cpu);
		irq_on();
	}
}
