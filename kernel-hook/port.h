/* SPDX-License-Identifier: MIT */
/*
 * What a kernel gives: the functions that the hook calls, and memcpy and memset, which compilers
 * call. "NMI" means that the function is called there too: it takes no lock, faults never, and does
 * not trust anything that an interrupted instruction may have left half done.
 */
#ifndef KTOP_PORT_H
#define KTOP_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* NMI. This CPU's number, 0 to facts.cpus - 1, the same as QEMU's cpu-index. */
uint32_t ktop_port_cpu(void);

/* NMI. A clock that all CPUs share, and that does not run backwards on one. */
uint64_t ktop_port_clock(void);

/* irq off or thread. Masks interrupts on this CPU, and puts them back as they were. */
unsigned long ktop_port_irq_save(void);
void ktop_port_irq_restore(unsigned long state);

/*
 * What this CPU is doing, for a sample.
 *
 * The kernel stack is walked by frame records { saved frame pointer, return pc } of 16 bytes, each
 * at a higher address than the one before. A walk ends well, and is not marked as cut, at a record
 * whose pc is 0 or equals a valid user_pc, or after a record whose saved frame pointer is 0: a
 * thread starts with frame pointer 0, and an entry from user mode lays the record
 * { user fp, user pc }.
 */
struct ktop_current {
	uint32_t process, thread;	/* KTOP_KERNEL and KTOP_NO_THREAD where there is none */
	bool idle;			/* the CPU has been halted by the idle loop */
	uint64_t stack_low, stack_high;	/* this thread's kernel stack; the walk stays inside */
	uint64_t text_low, text_high;	/* known to be KTOP_TEXT, so not asked about; 0: none is */
	bool user_valid;		/* the three below are saved by a complete entry */
	bool user_exact;		/* entered by an interrupt or exception, not a system call */
	uint64_t user_pc, user_fp;
};

/*
 * NMI, and never twice at once on a CPU. For the interrupted context `pc`: while an entry stub has
 * not yet saved all, user_valid is false, and the members below it are not looked at; in user mode it
 * is not looked at either. What is given stays as it is until the hook returns: one for each thread,
 * where most never changes, or one for each CPU.
 */
const struct ktop_current *ktop_port_current(uint64_t pc);

/*
 * NMI. What a kernel address is: a walk ends at a frame outside the text, and takes the frame after
 * an entry stub as interrupted (exact). A stub for interrupts or exceptions lays the frame record
 * { saved frame pointer, interrupted pc }, sets the frame pointer to it, and calls the handler; so
 * the walk goes through. Interrupted in a stub itself, a sample has that one frame (KTOP_ENTRY).
 */
enum ktop_text { KTOP_NOT_TEXT, KTOP_TEXT, KTOP_TEXT_ENTRY };
enum ktop_text ktop_port_text(uint64_t address);

/* NMI. Copies from the current user address space; false where that would fault. */
bool ktop_port_read_user(uint64_t address, void *to, uint32_t size);

/*
 * irq off, in ktop_tick(). Call that on this CPU at this clock value or soon after. A wish stands
 * until it is met or replaced, and is not renewed by earlier calls.
 */
void ktop_port_timer(uint64_t deadline);

/*
 * Thread, in ktop_drain(). Have that CPU, which may be this one, call ktop_tick() soon, or where it
 * is set aside, ktop_pace(): wakes it when it is halted. Nothing to do where ticks are fixed.
 */
void ktop_port_kick(uint32_t cpu);

/* Thread, in ktop_drain() or ktop_pace(). Sends an NMI; false: this kernel or machine cannot. */
bool ktop_port_nmi(uint32_t cpu);

#endif
