/* SPDX-License-Identifier: MIT */
/*
 * The functions that the hook calls. Each kernel writes them, or takes them from ports/template/. It also has memcpy
 * and memset, which compilers call. The comment of each function names the contexts from which the hook calls it.
 * "NMI" means: from NMIs, too. Such a function takes no lock, never faults, and trusts nothing that an interrupted
 * instruction may have left half done.
 */
#ifndef KTOP_PORT_H
#define KTOP_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "port_cpu.h"

/*
 * What this CPU is doing, for a sample.
 *
 * The kernel's stack is walked by frame records { saved frame pointer, return pc } of two words, each at a higher
 * address than the one before. The stack is complete, and not marked as cut, if the walk ends at a record whose pc
 * is 0 or a valid user_pc, or after a record whose saved frame pointer is 0. Therefore a thread starts with frame
 * pointer 0, and an entry from user mode sets it to 0 or lays the record { user fp, user pc }.
 */
struct ktop_current {
	uint32_t process, thread;	/* KTOP_KERNEL and KTOP_NO_THREAD where there is none */
	bool idle;			/* the idle loop has halted the CPU */
	uint8_t context;		/* wire.h: KTOP_TASK, _SOFTIRQ or _IRQ, of the code at pc; 0: not known */
	uint64_t stack_low, stack_high;	/* this thread's kernel stack; the walk reads nothing outside */
	uint64_t text_low, text_high;	/* all between is KTOP_TEXT, and ktop_port_text() is not asked; 0: unknown */
	bool user_valid;		/* the entry from user mode has saved all; the next three hold */
	bool user_exact;		/* the entry was an interrupt or exception, not a system call */
	uint64_t user_pc, user_fp;	/* the program's registers at the entry */
};

/*
 * NMI. `pc`: where the code was interrupted; 0: no sample is taken: a trace point asks for the stack, or for thread
 * and process, which have the same ids as in the trace points. An NMI may come during that, and ask, too. While an
 * entry stub has not yet saved all, user_valid is false, and the fields after it are not read. If the CPU was in user
 * mode, user_valid is not read either. The structure is the port's, and does not change until the hook returns. A port
 * has one for each thread, most fields of which never change, or one for each CPU, which it fills at each call.
 */
const struct ktop_current *ktop_port_current(uint64_t pc);

/*
 * NMI. Says what lies at a kernel address: no code, code, or the code of an entry stub. A walk ends at a frame that
 * is not code. The frame after an entry stub's is an interrupted pc, not a return address (wire.h: exact).
 *
 * A stub for interrupts or exceptions lays the frame record { saved frame pointer, interrupted pc }, sets the frame
 * pointer to it, and calls the handler: the walk then passes through it. If a stub itself was interrupted, the
 * sample has only that one frame, and is marked with KTOP_ENTRY.
 */
enum ktop_text { KTOP_NOT_TEXT, KTOP_TEXT, KTOP_TEXT_ENTRY };
enum ktop_text ktop_port_text(uint64_t address);

/* NMI. Copies `size` bytes from the current user address space. False: that would fault. */
bool ktop_port_read_user(uint64_t address, void *to, uint32_t size);

/*
 * irq off, in ktop_tick(). Asks the kernel to call ktop_tick() on this CPU at this clock value or soon after. The
 * request stands until it is met or replaced: a ktop_tick() that comes too early does not ask again.
 */
void ktop_port_timer(uint64_t deadline);

/*
 * Thread, in ktop_drain(). Has that CPU, which may be this one, call ktop_tick() soon; if it is set aside,
 * ktop_pace(). A halted CPU is woken. A kernel with fixed ticks does nothing here.
 */
void ktop_port_kick(uint32_t cpu);

/*
 * Thread, in ktop_drain(); thread or irq off, in ktop_pace(). Sends an NMI to that CPU. False: this kernel or machine
 * cannot.
 */
bool ktop_port_nmi(uint32_t cpu);

#endif
