/* SPDX-License-Identifier: MIT */
/*
 * The parts of a port that most kernels take as they are: compile the .c files of this folder with the hook's. Each
 * function that is called a default is weak: a function of that name in your kernel takes its place. port.h
 * describes the ten functions that the hook calls. Their defaults, in port.c and current.c:
 *
 *   cpu               0: there is one CPU
 *   clock             the CPU's counter of cycles (on x86 the TSC)
 *   irq_save, restore the CPU's own flag or mask of interrupts
 *   text              by the four symbols below
 *   current           the structure that ktop_current_set() was given on this CPU
 *   read_user         false: a user stack has one frame, and is marked as cut
 *   timer, kick       do nothing: the ticks are fixed; alarm.h is for a one-shot timer
 *   nmi               false: this kernel sends no NMIs
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

/* Defaults, in string.c; compilers call them. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);

/* The most CPUs that the template knows; the bytes of memory in memory.c. */
enum { KTOP_TEMPLATE_CPUS = 64, KTOP_TEMPLATE_MEMORY = 8 << 20 };

/*
 * The kernel's link script, or the linker's --defsym, defines these: where all code lies, and where in it the stubs of
 * interrupts and exceptions lie. If the stubs have no section of their own, the last two are equal.
 */
extern const char ktop_text_begin[], ktop_text_end[], ktop_stubs_begin[], ktop_stubs_end[];

/* ---- start.c ---- */

/*
 * thread, once. Calls ktop_init() with memory and a port. Facts that are 0 get a value here if they can: arch, cpus
 * (1), boot_id, anchor. `settings` NULL: the defaults. Returns NULL if there is no memory, or a setting is wrong.
 */
struct ktop *ktop_start(const struct ktop_facts *facts, const struct ktop_settings *settings);

/* thread: all that the drainer does. yield() gives other threads their turn; it may return at once. */
_Noreturn void ktop_drainer(struct ktop *ktop, void (*yield)(void), void (*sleep_ms)(uint32_t ms));

/* ---- memory.c: defaults ---- */

/* thread. Returns pages that are physically in one piece; NULL: none are left. The default has them in .bss. */
void *ktop_pages(size_t size);

/*
 * thread. Returns the address by which devices reach a place in those pages. The default is right for a kernel that is
 * linked at -2 GiB, or runs where it was loaded.
 */
uint64_t ktop_physical(const void *address);

/* thread. Makes device registers addressable, uncached. The default is NULL: they are reached by I/O ports. */
void *ktop_map(uint64_t physical, size_t size);

/*
 * thread. Does nobody but ktop use PCI configuration after boot? The default is true: a port that ktop plugs into the
 * running machine is then found. A kernel that uses PCI configuration after boot returns false.
 */
bool ktop_hotplug(void);

/* ---- current.c: which thread runs on which CPU ---- */

/*
 * thread. Fills in what never changes of a thread, before that thread runs. The id may be KTOP_NO_THREAD. Without the
 * bounds of its stack (NULL, 0), samples of it have one frame.
 */
void ktop_current_init(struct ktop_current *current, uint32_t thread, const void *stack,
	size_t size);

/* irq off, where the scheduler switches. This CPU runs that thread from now on. */
void ktop_current_set(struct ktop_current *current);

/*
 * irq off. True: the idle loop is about to halt the CPU. False: an interrupt has ended the halt; in the timer's
 * interrupt this comes after ktop_tick(), so that the sample still counts as idle.
 */
void ktop_current_idle(bool idle);

#endif
