/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook_calls.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/x86.h"
#include "ports/demo/memory/page.h"
#include "ports/demo/memory/program.h"
#include "ports/demo/memory/slab.h"
#include "ports/demo/memory/space.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "trap.h"

enum { USER_STACK_SIZE = 64 * 1024, FAILED = -1 };

static struct slab processes = { .size = sizeof(struct process) };
static uint32_t last_id;

static struct process *current(void)
{
	return thread_current()->process;
}

/* Lays a frame as if an interrupt had come before the program's first instruction, and returns from it. */
_Noreturn static void enter_user(uint64_t entry, uint64_t argument)
{
	uint64_t stack = (uint64_t)thread_current() + STACK_SIZE;
	struct frame *frame = (struct frame *)(stack - sizeof(*frame));

	irq_off();
	*frame = (struct frame) {
		.rip = entry, .rdi = argument, .rsp = USER_STACK,
		.cs = USER_CODE, .ss = USER_DATA, .rflags = FLAG_INTERRUPTS | 2,
	};
	traced_irqs_on();
	entry_leave(frame);
}

/* What a process's thread does in the kernel: it loads the program, then runs it. */
static void process_main(void *argument)
{
	struct process *process = argument;
	struct program_facts facts;

	if (!program_load(process->program, process->space, &facts))
		process_exit(FAILED);
	hook_program(process, &facts);
	enter_user(facts.entry, process->argument);
}

static struct process *new_process(const struct program *program, uint64_t argument)
{
	struct process *process = slab_alloc(&processes);

	if (process == NULL)
		return NULL;
	*process = (struct process) {
		.id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED),
		.program = program, .argument = argument,
		.heap_end = USER_HEAP, .space = space_new(),
	};
	if (process->space == 0) {
		slab_free(&processes, process);
		return NULL;
	}
	return process;
}

struct process *process_spawn(const char *name, uint64_t argument)
{
	const struct program *program = program_find(name);
	struct process *process = program == NULL ? NULL : new_process(program, argument);
	struct thread *thread;

	if (process == NULL)
		return NULL;
	hook_process(process);
	thread = thread_new(&(struct thread_plan) {
		.name = program->name, .run = process_main, .argument = process,
		.pinned = THREAD_ANY_CPU, .process = process,
	});
	if (thread == NULL) {
		hook_process_exit(process);
		space_free(process->space);
		slab_free(&processes, process);
		return NULL;
	}
	thread_start(thread);
	return process;
}

int64_t process_wait(struct process *process)
{
	unsigned long flags = spin_lock_irq(&process->lock);
	int64_t status;

	while (!process->over)
		sched_wait(&process->waiting, &process->lock);
	status = process->status;
	spin_unlock_irq(&process->lock, flags);
	slab_free(&processes, process);
	return status;
}

/* When it has left the address space, the thread is one of the kernel. */
_Noreturn void process_exit(int64_t status)
{
	struct process *process = current();
	uint64_t space = process->space;
	unsigned long flags;

	irq_off();
	thread_current()->process = NULL;
	process_enter_space(NULL);
	irq_on();
	space_free(space);
	hook_process_exit(process);
	flags = spin_lock_irq(&process->lock);
	process->status = status;
	process->over = true;
	sched_wake_one(&process->waiting);
	spin_unlock_irq(&process->lock, flags);
	thread_exit();
}

_Noreturn void process_fail(const struct frame *frame)
{
	print("%s, process %u: exception %u at %lx, address %lx\n", current()->program->name,
		current()->id, (uint32_t)frame->vector, frame->rip, fault_address());
	process_exit(FAILED);
}

bool process_fault(uint64_t address)
{
	struct process *process = current();
	uint64_t start = address & -(uint64_t)PAGE_SIZE;
	bool heap = address >= USER_HEAP && address < process->heap_end;
	bool stack = address >= USER_STACK - USER_STACK_SIZE && address < USER_STACK;
	void *page;

	if ((!heap && !stack) || space_find(process->space, start) != NULL)
		return false;
	page = page_alloc_clear();
	if (page == NULL)
		return false;
	if (!space_map(process->space, start, page)) {
		page_free(page, 0);
		return false;
	}
	return true;
}

/* Gives the current process all pages of a range. False: it may not have them all, or there is no memory. */
static bool have_pages(uint64_t address, uint64_t size)
{
	uint64_t end = address + size;

	if (end < address)
		return false;
	for (uint64_t at = address & -(uint64_t)PAGE_SIZE; at < end; at += PAGE_SIZE) {
		uint64_t inside = at < address ? address : at;

		if (space_find(current()->space, at) == NULL && !process_fault(inside))
			return false;
	}
	return true;
}

bool process_read(uint64_t address, void *to, uint64_t size)
{
	return have_pages(address, size) && space_read(current()->space, address, to, size);
}

bool process_write(uint64_t address, const void *from, uint64_t size)
{
	return have_pages(address, size) && space_write(current()->space, address, from, size);
}

void process_enter_space(const struct process *process)
{
	uint64_t space = process == NULL ? space_kernel() : process->space;

	if (page_table() != space)
		page_table_set(space);
}
