/* SPDX-License-Identifier: MIT */
/*
 * Functions of the guest that the host has chosen: an event where one is entered, and one at each of its ways out.
 * Those with a role tell the kernel's own trace events (roles.h). QEMU calls us there as it runs the guest's code, and
 * nowhere else: while none is chosen, it does not even ask. Where the choice changes, QEMU drops all that it has
 * translated, and translates it anew.
 *
 * Each event has the thread, the function's number and a frame: the stack pointer, as it is where the function is
 * entered. Where it is left it is the same, but QEMU may keep it in a register of the host until the block of code
 * ends: then it lags behind, by less than the function's own frame. So an end belongs to the lowest frame that is not
 * below its own: the host pairs them so, whatever thread or CPU it was.
 */
#ifndef PLUGIN_FUNCTIONS_H
#define PLUGIN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../ktop.h"

struct qemu;
struct qemu_plugin_tb;

/* Those that the host traces, at a time; that have roles; numbers in one boot. */
enum { FUNCTIONS_MOST = 32, FUNCTION_ROLES = 64, FUNCTION_NUMBERS = 256 };

struct functions_machine {
	const struct qemu *qemu;
	const char *arch;		/* QEMU's name of it */
	int api;			/* version of the interface for plugins */
	uint32_t cpus;			/* how many it may have */
};

/* Called once. False: no memory. */
bool functions_prepare(const struct functions_machine *machine);

/* ---- the drainer, and whoever has the CPUs held ---- */

/* As struct ktop_functions (ktop.h) has them; and the numbers. */
const char *functions_choose(const struct ktop_function *function, uint32_t *index);
bool functions_drop(uint64_t start);
void functions_drop_all(void);
bool functions_in_force(void);
const char *functions_place(const struct ktop_function *function, uint64_t value, struct ktop_placed *placed);
bool functions_number_at(uint32_t index, struct ktop_number *number);

/* The drainer, again and again: functions with roles are followed while their events are traced, and only then. */
void functions_follow_events(void);

/*
 * From hold to go_on no event is written; hold waits for those under way, which are short. An event that comes
 * meanwhile is counted as lost.
 */
void functions_hold(void);
void functions_go_on(void);

/* While held. `ktop` has just been initialised: a boot begins, which has no functions. */
void functions_begin(struct ktop *ktop);
/* While held. As struct ktop_memory has it. */
void functions_follow(const struct ktop_task_places *places);

/* The same for one CPU, whose ring another thread is about to write to. */
void functions_hold_cpu(uint32_t index);
void functions_go_on_cpu(uint32_t index);

/* ---- QEMU's threads ---- */

/* On a CPU's thread. True, once: the choice has changed, so QEMU is to be asked to translate anew. */
bool functions_due(void);
/* No CPU runs, and nothing is translated. True: functions are chosen, so we are to be asked about each block. */
bool functions_take(void);
void functions_block(struct qemu_plugin_tb *tb);

#endif
