/* SPDX-License-Identifier: MIT */
/* Threads: their making and ending. Who runs when is the scheduler's (sched.h). */
#ifndef THREAD_H
#define THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "port.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/x86.h"

struct process;

enum thread_state { THREAD_READY, THREAD_WAITING, THREAD_DEAD };

enum { THREAD_ANY_CPU = 0xffffffff };

/* Lies at the low end of the thread's kernel stack. */
struct thread {
	/* fixed after thread_new() */
	uint32_t id;
	uint32_t pinned;		/* a CPU's number, or THREAD_ANY_CPU */
	bool urgent;			/* runs at once when it wakes */
	struct process *process;	/* NULL: of the kernel */
	void (*run)(void *argument);
	void *argument;
	char name[24];

	/* the scheduler's */
	enum thread_state state;
	bool on_cpu;			/* its stack is in use: nobody may take it up yet */
	uint64_t sp;			/* while its stack is not in use */
	struct thread *next;		/* of the one list that it is in */
	uint64_t wake;			/* clock, while it sleeps */
	uint32_t cpu;			/* where it ran last */

	/* its own */
	uint32_t unpreemptible;		/* spin locks held */
	uint32_t traps;			/* depth of interrupts and exceptions; NMI reads it */
	uint64_t stolen;		/* clock ticks spent in them; NMI adds to it */
	struct ktop_current profiled;	/* what a sample says of it; NMI writes it */
	uint32_t guard;			/* THREAD_GUARD, until the stack overflows */
};

enum { THREAD_GUARD = 0x6b746f70 };

/* thread or interrupts off, not NMI. Holds also where the thread may move to another CPU. */
ALWAYS_INLINE struct thread *thread_current(void)
{
	uint64_t sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	return (struct thread *)((sp - 1) & -(uint64_t)STACK_SIZE);
}

/* How to make one; zero is the default save for `pinned`. */
struct thread_plan {
	const char *name;
	void (*run)(void *argument);	/* the thread ends when it returns */
	void *argument;
	uint32_t pinned;
	bool urgent;
	struct process *process;
};

/* thread. NULL: no memory. It runs from thread_start() on. */
struct thread *thread_new(const struct thread_plan *plan);
void thread_start(struct thread *thread);

/* thread. Both at once; panics without memory. */
void thread_spawn(const char *name, void (*run)(void *argument), void *argument);

/* thread, at start-up. What runs on this stack already becomes this CPU's idle thread. */
void thread_adopt(uint32_t cpu);

_Noreturn void thread_exit(void);

/* interrupts off, on another stack than the thread's own. */
void thread_free(struct thread *thread);

/* thread. Clock ticks in which this thread really ran, but for a constant. */
uint64_t thread_clock(void);

/* switch.S */
void thread_switch(uint64_t *save, uint64_t load);
void thread_begin(void);
void thread_main(void);

#endif
