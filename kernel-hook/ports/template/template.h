/* SPDX-License-Identifier: MIT */
/*
 * What most kernels take as it is: compile the .c files of this folder beside the hook's. All that
 * is called "default" is weak: a function of that name in your kernel takes its place. port.h has
 * the contracts of the ten that the hook calls; their defaults, in port.c:
 *
 *   cpu               0: one CPU
 *   clock             the CPU's counter of cycles (on x86 the TSC)
 *   irq_save, restore the CPU's own flag
 *   text              the four symbols below
 *   current           the struct that ktop_current_set() was given on this CPU
 *   read_user         false: user stacks are one frame, and marked as cut
 *   timer, kick       nothing: the ticks are fixed; alarm.h is for a timer of one shot
 *   nmi               false: this kernel sends none
 */
#ifndef KTOP_TEMPLATE_H
#define KTOP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktop;
struct ktop_current;
struct ktop_facts;
struct ktop_settings;

/* string.c: defaults */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);

enum { KTOP_TEMPLATE_CPUS = 64, KTOP_TEMPLATE_MEMORY = 8 << 20 };

/*
 * The kernel's link script, or the linker's --defsym, has these: where code lies, and in it the
 * stubs of interrupts and exceptions; two that are equal, where those have no place of their own.
 */
extern const char ktop_text_begin[], ktop_text_end[], ktop_stubs_begin[], ktop_stubs_end[];

/* ---- start.c ---- */

/*
 * thread, once. ktop_init(), with memory, port, and what is zero in the facts but can be known:
 * arch, one CPU, boot id, anchor. NULL: no memory, or a setting is wrong.
 */
struct ktop *ktop_start(const struct ktop_facts *facts, const struct ktop_settings *settings);

/* thread: the whole life of the one that drains. yield() may return at once. */
_Noreturn void ktop_drainer(struct ktop *ktop, void (*yield)(void), void (*sleep_ms)(uint32_t ms));

/* ---- memory.c: defaults ---- */

/* thread. Pages, in one piece physically too; NULL: none left. Of KTOP_TEMPLATE_MEMORY in .bss. */
void *ktop_pages(size_t size);

/* The address by which devices know a place in there. As for a kernel that is linked at -2 GiB, or
 * runs where it was loaded. */
uint64_t ktop_physical(const void *address);

/* Makes device registers addressable, uncached. NULL, so that they are reached by I/O ports. */
void *ktop_map(uint64_t physical, size_t size);

/*
 * thread. Is PCI configuration ktop's alone after boot? True, so that a port that ktop plugs into the
 * running machine is found; a kernel that uses it later says false.
 */
bool ktop_hotplug(void);

/* ---- current.c: who runs where, for kernels of threads ---- */

/*
 * thread: what never changes of a thread, before it runs. Its id may be KTOP_NO_THREAD; without the
 * bounds of its stack (NULL, 0), a sample has its leaf alone.
 */
void ktop_current_init(struct ktop_current *current, uint32_t thread, const void *stack,
	size_t size);

/* irq off, where the scheduler switches: this CPU runs that thread from now on. */
void ktop_current_set(struct ktop_current *current);

/* irq off: before the halt of the idle loop, true; when an interrupt has been sampled, false. */
void ktop_current_idle(bool idle);

#endif
