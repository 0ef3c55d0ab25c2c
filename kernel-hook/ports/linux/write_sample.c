/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/cache.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include "ktop.h"
#include "orc.h"
#include "port.h"
#include "text.h"
#include "timer.h"
#include "unwind_user.h"
#include "wire.h"
#include "write_sample.h"

enum {
	REGISTERS = 17, REGISTERS_32 = 9,	/* by DWARF's numbers; the last one is the program counter */
	STACK_BYTE_NS = 244,		/* 4 MiB of stacks a second on each CPU: TCG copies byte by byte */
	STACK_BURST = 16,		/* so many whole ones may come at once: late ticks come close together */
	FRAMES_BYTES = KTOP_FRAMES_MAX * sizeof(u64),
};

uint32_t write_sample_room __ro_after_init;
static uint32_t stack_bytes __ro_after_init;
static DEFINE_PER_CPU(u64, stack_paid);	/* bytes are paid up to this time; written by the sampler of this CPU */

void write_sample_init(uint32_t stack)
{
	stack_bytes = stack;
	write_sample_room = sizeof(struct ktop_wire_program_sample) + 4 * sizeof(u16) + FRAMES_BYTES +
		max_t(u32, FRAMES_BYTES, REGISTERS * sizeof(u64) + stack);
}

/* ---- the program: its registers, and the bytes of its stack ---- */

static uint32_t put_registers(uint8_t *to, const struct pt_regs *regs)
{
	const u64 values_32[REGISTERS_32] = {
		regs->ax, regs->cx, regs->dx, regs->bx, regs->sp, regs->bp, regs->si, regs->di, regs->ip,
	};
	const u64 values[REGISTERS] = {
		regs->ax, regs->dx, regs->cx, regs->bx, regs->si, regs->di, regs->bp, regs->sp, regs->r8, regs->r9,
		regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15, regs->ip,
	};

	if (!user_64bit_mode((struct pt_regs *)regs)) {
		memcpy(to, values_32, sizeof(values_32));
		return REGISTERS_32;
	}
	memcpy(to, values, sizeof(values));
	return REGISTERS;
}

/* The bytes that this sample may take: fewer where samples are frequent, so that these do not keep the guest busy. */
static unsigned long stack_share(void)
{
	u64 now = ktop_port_clock(), burst = (u64)STACK_BURST * stack_bytes * STACK_BYTE_NS;
	u64 paid = this_cpu_read(stack_paid);

	if (paid + burst < now)
		paid = now - burst;
	this_cpu_write(stack_paid, paid);
	return paid < now ? min_t(u64, stack_bytes, (now - paid) / STACK_BYTE_NS & ~(u64)7) : 0;
}

/*
 * No frame lies above the end of its stack. The first thread's has the arguments of the program there; those of other
 * threads have what the thread pointer points to.
 */
static unsigned long stack_end(unsigned long sp)
{
	const unsigned long ends[] = {
		READ_ONCE(current->mm->start_stack) + sizeof(u64), READ_ONCE(current->thread.fsbase),
	};
	unsigned long end = sp + stack_share();

	for (int i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i] > sp && ends[i] < end)
			end = ends[i];
	return end;
}

/* Copies what is in memory, page by page: nothing is faulted in. */
static uint32_t put_stack(uint8_t *to, unsigned long sp)
{
	unsigned long end = stack_end(sp), at = sp;

	while (at < end) {
		unsigned long next = min(end, (at | ~PAGE_MASK) + 1);

		if (copy_from_user_nofault(to + (at - sp), (const void __user *)at, next - at))
			break;
		at = next;
	}
	this_cpu_write(stack_paid, this_cpu_read(stack_paid) + (at - sp) * STACK_BYTE_NS);
	return at - sp;
}

/* ---- the kernel's stack ---- */

static void put_address(uint8_t *frames, uint32_t index, uint64_t address)
{
	memcpy(frames + 8 * index, &address, sizeof(address));
}

/* Has the walk_kernel come to the registers of a program? The kernel's stack ends there. */
static bool at_program(struct unwind_state *state)
{
	struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return regs && user_mode(regs);
}

/*
 * Adds the callers of `regs` to `frames`; NULL: those of the module's code that calls this. A frame with saved
 * registers has an interrupted pc; all other frames have return addresses. Returns the registers of the last frame;
 * NULL: the last frame has none.
 */
static const struct pt_regs *walk_kernel(const struct pt_regs *regs, struct ktop_wire_sample *sample,
	uint8_t *frames, uint32_t *count, uint32_t most)
{
	const struct pt_regs *last = regs;
	struct unwind_state state;

	for (unwind_start(&state, current, (struct pt_regs *)regs, NULL); !unwind_done(&state);
			unwind_next_frame(&state)) {
		unsigned long pc = at_program(&state) ? 0 : unwind_get_return_address(&state);

		if (!pc || *count == most)
			break;
		if (!regs && *count == 0 && within_module_core(pc, THIS_MODULE))
			continue;
		last = unwind_get_entry_regs(&state, NULL);
		if (last)
			sample->exact |= 1ull << *count;
		put_address(frames, (*count)++, pc);
	}
	if (unwind_error(&state) || !(unwind_done(&state) || at_program(&state)))
		sample->flags |= KTOP_KERNEL_CUT;
	return last;
}

/*
 * `regs` are in a stub for indirect calls. Changes them to those of the stub's caller at its call. `*pc`: the address
 * to which the stub returns. A stub may have called itself once, in order to throw that return address away, so up to
 * two addresses are taken off here. False: the stack cannot be read, or both addresses are a stub's.
 */
static bool leave_thunk(struct pt_regs *regs, unsigned long *pc)
{
	for (int depth = 0; depth < 2; depth++) {
		if (copy_from_kernel_nofault(pc, (const void *)regs->sp, sizeof(*pc)))
			return false;
		regs->sp += sizeof(*pc);
		regs->ip = *pc - 1;
		if (!text_is_thunk(*pc))
			return true;
	}
	return false;
}

/* Linux' unwinder takes a stub for indirect calls for the end of the stack. This goes on with the stub's caller. */
static uint32_t walk_kernel_all(struct ktop_wire_sample *sample, uint8_t *frames)
{
	const struct pt_regs *last = timer_regs();
	struct pt_regs caller;
	uint32_t count = 1;
	unsigned long pc;

	while ((last = walk_kernel(last, sample, frames, &count, KTOP_FRAMES_MAX)) && text_is_thunk(last->ip)) {
		caller = *last;
		if (count == KTOP_FRAMES_MAX || !leave_thunk(&caller, &pc)) {
			sample->flags |= KTOP_KERNEL_CUT;
			break;
		}
		put_address(frames, count++, pc);
		last = &caller;
	}
	return count;
}

/*
 * NMI or irq off. Walks the kernel's stack with Linux' own unwinder, by ORC or frame pointers. It follows interrupt and
 * exception stacks by itself, and knows where a stack ends. Sets sample->flags and sample->exact, writes at most
 * KTOP_FRAMES_MAX addresses to `frames`, at any alignment, and returns how many there are. An idle CPU's stack tells
 * nothing: it has one frame.
 */
static uint32_t unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *now,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	uint32_t count;

	put_address(frames, 0, regs->pc);
	sample->exact = 1;
	if (now->idle)
		return 1;
	if (text_is_entry(regs->pc)) {
		sample->flags |= KTOP_ENTRY;
		return 1;
	}
	count = orc_walk(timer_regs(), frames);
	return count ? count : walk_kernel_all(sample, frames);
}

/* The hook's frames are left out: the first one is where Linux has its trace point. */
uint32_t ktop_walk_here(uint64_t fp, struct ktop_wire_sample *sample, uint8_t *frames, uint32_t most)
{
	uint32_t count = 0;

	walk_kernel(NULL, sample, frames, &count, most);
	return count;
}

/* ---- a sample ---- */

/* Writes a list's count before its elements, which are there already. Returns where the list ends. */
static uint8_t *put_count(uint8_t *list, uint32_t count, uint32_t element)
{
	uint16_t size = count;

	memcpy(list, &size, sizeof(size));
	return list + sizeof(size) + count * element;
}

/* The registers of the program that was interrupted, or that has entered the kernel. NULL: there is none. */
static const struct pt_regs *program_regs(const struct ktop_regs *regs, const struct ktop_current *now)
{
	if (regs->user)
		return timer_regs();
	return now->user_valid ? task_pt_regs(current) : NULL;
}

uint32_t ktop_write_sample(uint8_t *payload, const struct ktop_regs *regs, const struct ktop_current *now,
	uint32_t weight)
{
	const struct ktop_wire_sample head = {
		.process = now->process, .thread = now->thread, .flags = now->context, .weight = weight,
		.mode = regs->user ? KTOP_MODE_USER : now->idle ? KTOP_MODE_IDLE : KTOP_MODE_KERNEL,
	};
	const struct pt_regs *program = program_regs(regs, now);
	struct ktop_wire_sample *sample = (struct ktop_wire_sample *)(payload + 1);
	uint8_t *list = (uint8_t *)(sample + 1);
	bool bytes = program && stack_bytes;

	payload[0] = program && !user_64bit_mode((struct pt_regs *)program) ? KTOP_I386 : KTOP_X86_64;
	*sample = head;
	list = put_count(list, regs->user ? 0 : unwind_kernel(regs, now, sample, list + 2), sizeof(u64));
	if (regs->user || (program && now->user_exact))
		sample->flags |= KTOP_USER_EXACT;
	list = put_count(list, program && !bytes ? ktop_walk_user(program->ip, program->bp, 0, sample, list + 2) : 0,
		sizeof(u64));
	list = put_count(list, bytes ? put_registers(list + 2, program) : 0, sizeof(u64));
	list = put_count(list, bytes ? put_stack(list + 2, program->sp) : 0, 1);
	return list - payload;
}
