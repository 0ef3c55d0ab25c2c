/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "../ktop.h"
#include "machine/debugger.h"
#include "machine/memory.h"
#include "machine/qemu.h"
#include "machine/target.h"
#include "moment.h"
#include "outside.h"

enum {
	STACK_SHIFT = 14,		/* no two threads share so aligned a block of stack */
	/* Linux, include/linux/preempt.h: a softirq is served; interrupts; NMIs. */
	NOT_IN_TASK = 1 << 8 | 15 << 16 | 15 << 20,
};

uint64_t moment_argument(const struct moment *moment, unsigned number)
{
	return debugger_argument(moment->cpu, number);
}

bool moment_read(const struct moment *moment, uint64_t address, void *to, uint32_t size)
{
	return memory_read(moment->qemu, moment->cpu, address, to, size) == size;
}

bool moment_read_stack(const struct moment *moment, uint64_t address, void *to, uint32_t size)
{
	struct moment_kept *kept = moment->kept;
	uint64_t page = address - address % KTOP_MEMORY_PAGE;

	if (!kept->stack || address >> STACK_SHIFT != kept->stack ||
			address % KTOP_MEMORY_PAGE + size > KTOP_MEMORY_PAGE)
		return moment_read(moment, address, to, size);
	if (kept->page != page) {
		kept->physical = moment->qemu->cpu_get_phys_page_debug(moment->cpu, page);
		kept->page = kept->physical == UINT64_MAX || moment->qemu->cpu_physical_memory_is_io(kept->physical) ?
			0 : page;
	}
	if (!kept->page)
		return false;
	moment->qemu->cpu_physical_memory_rw(kept->physical + address % KTOP_MEMORY_PAGE, to, size, false);
	return true;
}

/* Names are written by one thread at a time (ktop.h). Where another one does so now, the next moment tells. */
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;

static void tell_name(const struct moment *moment, const struct task *task)
{
	struct task *told = &moment->kept->told;
	char name[TASK_NAME + 1] = "";

	if (!task->size || !task->thread || (told->thread == task->thread && told->process == task->process &&
			memcmp(told->name, task->name, TASK_NAME) == 0) || pthread_mutex_trylock(&names) != 0)
		return;
	memcpy(name, task->name, task->size);
	ktop_thread(moment->ktop, task->thread, task->process, name);
	if (task->thread == task->process)
		ktop_process(moment->ktop, task->process, name);
	pthread_mutex_unlock(&names);
	*told = *task;
}

void moment_thread_ends(const struct moment *moment, uint32_t thread)
{
	if (pthread_mutex_trylock(&names) != 0)
		return;
	ktop_thread_exit(moment->ktop, thread);
	ktop_process_exit(moment->ktop, thread);
	pthread_mutex_unlock(&names);
}

/*
 * Who runs is read where the stack is another one than before, and at each tick of the coarse clock: a thread that
 * begins on the stack of one that has ended may be taken for that one until then, for 4 ms at most.
 */
uint32_t moment_thread(const struct moment *moment, uint64_t sp)
{
	struct target_state state = { .count = 0 };
	struct moment_kept *kept = moment->kept;
	const struct task_cpu reader = {
		.qemu = moment->qemu, .cpu = moment->cpu, .state = &state, .kept = &kept->task,
	};
	struct timespec now;
	struct task task;

	if (!moment->places->known)
		return KTOP_NO_THREAD;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (kept->stack == sp >> STACK_SHIFT && kept->second == now.tv_sec && kept->ns == now.tv_nsec) {
		outside_current(kept->process, kept->thread);
		return kept->thread;
	}
	kept->stack = kept->page = 0;
	if (!debugger_read(moment->cpu, &state))
		return KTOP_NO_THREAD;
	kept->base = task_read(moment->places, &reader, &task);
	kept->thread = task.thread;
	kept->process = task.process;
	tell_name(moment, &task);
	kept->stack = sp >> STACK_SHIFT;
	kept->second = now.tv_sec;
	kept->ns = now.tv_nsec;
	outside_current(kept->process, kept->thread);
	return task.thread;
}

/* A thread with the number 0 idles. */
uint32_t moment_worker(const struct moment *moment)
{
	uint32_t thread = moment_thread(moment, debugger_sp(moment->cpu)), context;

	if (!moment->kept->base || !moment_read(moment, moment->kept->base + moment->places->context, &context,
			sizeof(context)) || context & NOT_IN_TASK || !thread)
		return KTOP_NO_THREAD;
	return thread;
}

bool moment_task(const struct moment *moment, uint64_t record, struct moment_task *task)
{
	uint32_t queued;

	if (!moment->places->states ||
			!moment_read(moment, record + moment->places->thread, &task->thread, sizeof(task->thread)) ||
			!moment_read(moment, record + moment->places->state, &task->state, sizeof(task->state)) ||
			!moment_read(moment, record + moment->places->queued, &queued, sizeof(queued)))
		return false;
	task->queued = queued;
	task->thread = task->thread ? task->thread : KTOP_NO_THREAD;
	return true;
}
