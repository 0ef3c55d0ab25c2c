/*
 * What a kernel gives: seven functions that the hook calls. "NMI" means that the function is called
 * there too: it takes no lock, faults never, and does not trust anything that an interrupted
 * instruction may have left half done.
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

/* What this CPU is doing, for a sample. */
struct ktop_current {
	uint32_t process, thread;	/* KTOP_KERNEL and KTOP_NO_THREAD where there is none */
	bool idle;			/* the CPU has been halted by the idle loop */
	uint64_t stack_low, stack_high;	/* this thread's kernel stack; the walk stays inside */
	bool user_valid;		/* the three below are saved by a complete entry */
	bool user_exact;		/* entered by an interrupt or exception, not a system call */
	uint64_t user_pc, user_fp;
};

/* NMI. For the interrupted context `regs.pc`: an entry stub that has not yet saved all is not valid. */
void ktop_port_current(uint64_t pc, struct ktop_current *current);

/*
 * NMI. What a kernel address is: the hook drops frames outside the text, and takes the frame
 * after an interrupt's entry stub as interrupted (exact). Stubs must lay a frame record
 * { saved frame pointer, interrupted pc } for the walk to go through them.
 */
enum ktop_text { KTOP_NOT_TEXT, KTOP_TEXT, KTOP_TEXT_ENTRY };
enum ktop_text ktop_port_text(uint64_t address);

/* NMI. Copies from the current user address space; false where that would fault. */
bool ktop_port_read_user(uint64_t address, void *to, uint32_t size);

/* irq off. Call ktop_tick() on this CPU at this clock value or soon after; 0: no wish. */
void ktop_port_timer(uint64_t deadline);

/* irq off or thread. Start this CPU's ktop_tick() calls, from another CPU. */
void ktop_port_kick(uint32_t cpu);

/* irq off or thread. Sends an NMI; false: this kernel or machine cannot. */
bool ktop_port_nmi(uint32_t cpu);

#endif
