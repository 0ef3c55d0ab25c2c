/* What ktop's hook wants of this kernel (port.h). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apic.h"
#include "cpu.h"
#include "frame.h"
#include "layout.h"
#include "port.h"
#include "process.h"
#include "profile.h"
#include "space.h"
#include "thread.h"
#include "wire.h"
#include "x86.h"

/* link.ld; the stubs are in .entry */
extern const char text_start[], text_end[], entry_start[], entry_end[];

uint32_t ktop_port_cpu(void)
{
	return cpu_number();
}

uint64_t ktop_port_clock(void)
{
	return clock_now();
}

unsigned long ktop_port_irq_save(void)
{
	return irq_save();
}

void ktop_port_irq_restore(unsigned long state)
{
	irq_restore(state);
}

enum ktop_text ktop_port_text(uint64_t address)
{
	if (address >= (uint64_t)entry_start && address < (uint64_t)entry_end)
		return KTOP_TEXT_ENTRY;
	return address >= (uint64_t)text_start && address < (uint64_t)text_end ?
		KTOP_TEXT : KTOP_NOT_TEXT;
}

/*
 * The frame at the top of the stack is where the thread left user mode; before it first went there
 * it is zero. In a stub it may be half laid, and amid a switch the address space is another's.
 */
static void add_user(const struct thread *thread, uint64_t pc, struct ktop_current *current)
{
	const struct frame *frame = (const struct frame *)((uint64_t)thread + STACK_SIZE) - 1;

	current->user_valid = false;
	if (!frame_user(frame) || ktop_port_text(pc) == KTOP_TEXT_ENTRY ||
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
		.text_low = (uint64_t)entry_end,
		.text_high = (uint64_t)text_end,
	};
}

bool ktop_port_read_user(uint64_t address, void *to, uint32_t size)
{
	return space_read(page_table(), address, to, size);
}

/* Called from ktop_tick(), and so from the clock's interrupt, which sets the timer as it ends. */
void ktop_port_timer(uint64_t deadline)
{
	cpu_this()->next_sample = deadline;
}

/* The message is answered as the clock's interrupt is. */
void ktop_port_kick(uint32_t cpu)
{
	apic_kick(cpus[cpu].apic);
}

bool ktop_port_nmi(uint32_t cpu)
{
	apic_nmi(cpus[cpu].apic);
	return true;
}
