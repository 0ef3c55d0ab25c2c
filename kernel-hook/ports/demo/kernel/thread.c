/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"
#include "hook_calls.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/memory/page.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "trace.h"

enum { STACK_ORDER = 2 };

_Static_assert(PAGE_SIZE << STACK_ORDER == STACK_SIZE, "a stack is one block of pages");

static uint32_t last_id;

/* What thread_switch() pops from the stack of a thread that has not yet run. */
struct first_switch {
	uint64_t r15, r14, r13, r12, rbx, rbp, rip;
	uint64_t above;			/* aligns the stack for thread_begin, as the ABI wants it */
};

struct thread *thread_new(const struct thread_plan *plan)
{
	struct thread *thread = page_alloc(STACK_ORDER);
	struct first_switch *first;

	if (thread == NULL)
		return NULL;
	memset(thread, 0, STACK_SIZE);
	first = (void *)((char *)thread + STACK_SIZE - sizeof(struct frame) - sizeof(*first));
	first->rip = (uint64_t)thread_begin;
	thread->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	thread->pinned = plan->pinned;
	thread->urgent = plan->urgent;
	thread->process = plan->process;
	thread->run = plan->run;
	thread->argument = plan->argument;
	thread->sp = (uint64_t)first;
	thread->guard = THREAD_GUARD;
	text_copy(thread->name, plan->name, sizeof(thread->name));
	hook_thread(thread);
	ktop_trace_task_begin(hook, thread->id, thread->profiled.process, thread_current()->id);
	return thread;
}

void thread_start(struct thread *thread)
{
	sched_wake(thread);
}

void thread_spawn(const char *name, void (*run)(void *argument), void *argument)
{
	struct thread *thread = thread_new(&(struct thread_plan) {
		.name = name, .run = run, .argument = argument, .pinned = THREAD_ANY_CPU,
	});

	if (thread == NULL)
		panic("no memory for thread %s", name);
	thread_start(thread);
}

void thread_rename(const char *name)
{
	struct thread *thread = thread_current();

	text_copy(thread->name, name, sizeof(thread->name));
	hook_renamed(thread);
}

void thread_adopt(uint32_t cpu)
{
	struct thread *thread = thread_current();

	thread->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	thread->pinned = thread->cpu = cpu;
	thread->on_cpu = true;
	thread->guard = THREAD_GUARD;
	text_copy(thread->name, "idle", sizeof(thread->name));
	cpus[cpu].idle = cpus[cpu].current = thread;
	hook_thread(thread);
}

/* A new thread comes here as if thread_switch() had returned: interrupts off, in the middle of a switch. */
void thread_main(void)
{
	struct thread *thread = thread_current();

	sched_arrived();
	irq_on();
	thread->run(thread->argument);
	thread_exit();
}

_Noreturn void thread_exit(void)
{
	irq_off();
	ktop_trace_task_end(hook, thread_current()->id);
	hook_thread_exit(thread_current());
	thread_current()->state = THREAD_DEAD;
	sched_switch();
	panic("a dead thread runs");
}

void thread_free(struct thread *thread)
{
	page_free(thread, STACK_ORDER);
}

/* Reads again if an interrupt or an NMI came between the two readings. */
uint64_t thread_clock(void)
{
	const volatile uint64_t *stolen = &thread_current()->stolen;
	uint64_t before, now;

	do {
		before = *stolen;
		now = clock_now();
	} while (before != *stolen);
	return now - before;
}
