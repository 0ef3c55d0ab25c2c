/* SPDX-License-Identifier: MIT */
/* The functions of port.h that differ from the template's defaults. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"
#include "hook_calls.h"
#include "port.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/x86.h"
#include "ports/demo/memory/space.h"
#include "ports/template/template.h"
#include "process.h"
#include "thread.h"
#include "wire.h"

uint32_t ktop_port_cpu(void)
{
	return cpu_number();
}

static bool in_stub(uint64_t pc)
{
	return pc >= (uint64_t)ktop_stubs_begin && pc < (uint64_t)ktop_stubs_end;
}

/*
 * The frame at the top of the stack says where the thread left user mode; it is zero until the thread has been there.
 * In an entry stub the frame may be incomplete, and during a switch the address space may be another process's: in
 * both cases the user's registers are not valid.
 */
static void add_user(const struct thread *thread, uint64_t pc, struct ktop_current *current)
{
	const struct frame *frame = (const struct frame *)((uint64_t)thread + STACK_SIZE) - 1;

	current->user_valid = false;
	if (!frame_user(frame) || in_stub(pc) ||
			page_table() != thread->process->space)
		return;
	current->user_valid = true;
	current->user_exact = frame->vector != VECTOR_SYSCALL;
	current->user_pc = frame->rip;
	current->user_fp = frame->rbp;
}

const struct ktop_current *ktop_port_current(uint64_t pc)
{
	const struct cpu *cpu = cpu_this();
	struct thread *thread = cpu->current;
	struct ktop_current *current = &thread->profiled;

	current->idle = cpu->halted;
	current->context = cpu->interrupted;
	if (thread->process != NULL)
		add_user(thread, pc, current);
	return current;
}

void port_thread(struct thread *thread)
{
	thread->profiled = (struct ktop_current) {
		.process = thread->process == NULL ? KTOP_KERNEL : thread->process->id,
		.thread = thread->id,
		.stack_low = (uint64_t)(thread + 1),
		.stack_high = (uint64_t)thread + STACK_SIZE,
		.text_low = (uint64_t)ktop_stubs_end,
		.text_high = (uint64_t)ktop_text_end,
	};
}

bool ktop_port_read_user(uint64_t address, void *to, uint32_t size)
{
	return space_read(page_table(), address, to, size);
}

/* ktop_tick() calls it in the clock's interrupt, which sets the timer at its end. */
void ktop_port_timer(uint64_t deadline)
{
	cpu_this()->next_sample = deadline;
}

/* That CPU handles the message as it does the clock's interrupt. */
void ktop_port_kick(uint32_t cpu)
{
	apic_kick(cpus[cpu].apic);
}

bool ktop_port_nmi(uint32_t cpu)
{
	apic_nmi(cpus[cpu].apic);
	return true;
}
