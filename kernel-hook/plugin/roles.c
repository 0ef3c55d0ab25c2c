/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "../ktop.h"
#include "../trace.h"
#include "machine/debugger.h"
#include "moment.h"
#include "roles.h"

#define EVENT(name) KTOP_UNTRACED(name)

/* ---- calls: x86-64's struct pt_regs, include/uapi/asm/ptrace.h ---- */

struct call_registers {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, number, pc;
};

enum { RT_SIGRETURN = 15 };

/* The first argument is their address. */
static void enter_call(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t thread = moment_thread(moment, debugger_sp(moment->cpu));
	struct call_registers is;

	(void)place;
	if (moment_read(moment, moment_argument(moment, 0), &is, sizeof(is)))
		ktop_trace_syscall_enter(ktop, thread, (uint32_t)is.number, is.rdi, is.rsi, is.rdx, is.r10, is.r8,
			is.r9);
}

/* The number is -1 where the registers of what a signal had interrupted are back. */
static void leave_call(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t thread = moment_thread(moment, debugger_sp(moment->cpu)), number;
	struct call_registers is;

	(void)place;
	if (!moment_read(moment, moment_argument(moment, 0), &is, sizeof(is)))
		return;
	number = is.number == UINT64_MAX ? RT_SIGRETURN : (uint32_t)is.number;
	ktop_trace_syscall_exit(ktop, thread, number, is.rax);
}

/* ---- threads ---- */

/* Bits of a thread's state, include/linux/sched.h. */
enum { UNINTERRUPTIBLE = 2, DEAD = 0x80, NO_LOAD = 0x400 };

/* The scheduler has taken what does not go on from its queue. A wake may have changed the state since. */
static uint8_t leaves_of(const struct moment_task *task)
{
	if (task->queued)
		return KTOP_LEAVES_READY;
	if (task->state & DEAD)
		return KTOP_LEAVES_DEAD;
	return task->state & UNINTERRUPTIBLE && !(task->state & NO_LOAD) ? KTOP_LEAVES_BLOCKED : KTOP_LEAVES_ASLEEP;
}

/* The records of the one that leaves, and of the one that comes. */
static void enter_switch(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	struct moment_task from, to;

	(void)place;
	if (!moment_task(moment, moment_argument(moment, 0), &from) ||
			!moment_task(moment, moment_argument(moment, 1), &to))
		return;
	moment->kept->stack = 0;		/* the next one may have the stack of one that has ended */
	ktop_trace_sched_switch(ktop, from.thread, to.thread, leaves_of(&from));
}

/* The record of a thread, and the states out of which it is to be woken: in any other one, nothing happens. */
static void enter_wake(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	struct moment_task task;

	(void)place;
	if (moment_task(moment, moment_argument(moment, 0), &task) &&
			task.state & (uint32_t)moment_argument(moment, 1))
		ktop_trace_sched_wake(ktop, task.thread, moment_worker(moment));
}

static void enter_first_wake(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	struct moment_task task;

	(void)place;
	if (moment_task(moment, moment_argument(moment, 0), &task))
		ktop_trace_sched_wake(ktop, task.thread, moment_worker(moment));
}

static const struct role roles[] = {
	{ "call", EVENT(syscall_enter), enter_call, NULL },
	{ "call_end", EVENT(syscall_exit), leave_call, NULL },
	{ "switch", EVENT(sched_switch), enter_switch, NULL },
	{ "wake", EVENT(sched_wake), enter_wake, NULL },
	{ "first_wake", EVENT(sched_wake), enter_first_wake, NULL },
};

const struct role *role_named(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (strcmp(roles[i].name, name) == 0)
			return &roles[i];
	return NULL;
}
