/* SPDX-License-Identifier: MIT */
/* Threads: how they begin and end. The scheduler (sched.h) says which one runs. */
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

/* A thread. It lies at the low end of its own kernel stack. */
struct thread {
	/* fixed after thread_new(), but for thread_rename() */
	uint32_t id;
	uint32_t pinned;		/* a CPU's number, or THREAD_ANY_CPU */
	bool urgent;			/* runs at once when it wakes */
	struct process *process;	/* NULL: a thread of the kernel */
	void (*run)(void *argument);
	void *argument;
	char name[24];

	/* written by the scheduler */
	enum thread_state state;
	bool on_cpu;			/* a CPU uses its stack: no other one may run it yet */
	uint64_t sp;			/* stack pointer, while no CPU uses its stack */
	struct thread *next;		/* in the one list that it is in */
	uint64_t wake;			/* clock value at which a sleeping thread wakes */
	uint32_t cpu;			/* where it ran last, or will run */
	bool ran;			/* it has run */

	/* written by the thread itself */
	uint32_t unpreemptible;		/* spin locks that it holds */
	uint32_t traps;			/* depth of interrupts and exceptions; NMIs read it */
	uint64_t stolen;		/* clock ticks spent in them; NMIs add to it */
	struct ktop_current profiled;	/* what a sample says about it; NMIs write it */
	uint32_t guard;			/* THREAD_GUARD, until the stack overflows */
};

enum { THREAD_GUARD = 0x6b746f70 };

/* thread or interrupts off, not NMI. It stays right when the thread moves to another CPU. */
ALWAYS_INLINE struct thread *thread_current(void)
{
	uint64_t sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	return (struct thread *)((sp - 1) & -(uint64_t)STACK_SIZE);
}

/* How to make a thread. 0 is the default of each field except `pinned`. */
struct thread_plan {
	const char *name;
	void (*run)(void *argument);	/* the thread ends when it returns */
	void *argument;
	uint32_t pinned;
	bool urgent;
	struct process *process;
};

/* thread. New returns NULL if there is no memory. The thread runs from thread_start() on. */
struct thread *thread_new(const struct thread_plan *plan);
void thread_start(struct thread *thread);

/* thread. Makes and starts a thread of the kernel that may run on any CPU. Panics if there is no memory. */
void thread_spawn(const char *name, void (*run)(void *argument), void *argument);

void thread_rename(const char *name);	/* thread. The current one is called so from now on */

/* thread, at start-up. The code that runs on this stack becomes this CPU's idle thread. */
void thread_adopt(uint32_t cpu);

/* thread. Ends the current thread. */
_Noreturn void thread_exit(void);

/* interrupts off, on another stack than the thread's own. Frees an ended thread. */
void thread_free(struct thread *thread);

/* thread. Clock ticks in which this thread really ran, plus a constant: only differences mean something. */
uint64_t thread_clock(void);

/* switch.S has the first two; its thread_begin() calls thread_main(). */
void thread_switch(uint64_t *save, uint64_t load);
void thread_begin(void);
void thread_main(void);

#endif
