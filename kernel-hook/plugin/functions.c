/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../hook.h"
#include "../trace.h"
#include "boot.h"
#include "functions.h"
#include "machine/debugger.h"
#include "machine/instruction.h"
#include "machine/qemu.h"
#include "machine/qemu_plugin.h"
#include "moment.h"
#include "outside.h"
#include "roles.h"

#define FUNCTION_EVENTS(KTOP_EVENT) \
	KTOP_EVENT(function_enter, (u32, thread), (u32, number), (u64, frame)) \
	KTOP_EVENT(function_exit, (u32, thread), (u32, number), (u64, frame))
KTOP_EVENTS(KTOP_TRACE_USER, FUNCTION_EVENTS)

/* A function at which we are called. */
struct chosen {
	bool known;			/* the rest is set */
	bool on;			/* it is to be followed; of one with a role: while its events are traced */
	struct ktop_function function;	/* without its name */
	uint32_t number;		/* of a function that the host traces: its role is NULL */
	struct role_place place;
};

/* Of the CPU's thread, under its lock: for that it never waits, and the others do for one event at most. */
struct function_cpu {
	pthread_mutex_t lock;
	struct moment_kept kept;
	uint64_t missed;		/* events while it was held, that are not counted yet */
} __attribute__((aligned(64)));

static struct {
	struct functions_machine machine;	/* fixed after functions_prepare */
	struct function_cpu *cpus;

	struct ktop *ktop;		/* written while all are held, as is: */
	struct ktop_task_places places;

	/* written where no CPU runs, read where a block is translated */
	struct chosen active[FUNCTIONS_MOST + FUNCTION_ROLES];
	uint64_t low, high;		/* nothing of them is outside */

	pthread_mutex_t lock;		/* of all that follows */
	struct chosen chosen[FUNCTIONS_MOST + FUNCTION_ROLES];	/* by the host; with a role */
	uint32_t traced;		/* the events by which roles are on or off */
	bool has_calls;			/* the kernel's numbers are Linux's */
	uint64_t changes, taken;	/* of the choice; those that `active` has */
	bool asked;			/* QEMU was asked to translate anew, and has not done so */
	bool begun;			/* functions_take() was called: the machine runs */
	uint32_t numbers;		/* so many are used in this boot */
	struct {
		uint64_t start;
		char name[KTOP_NAME_MAX + 1];
	} named[FUNCTION_NUMBERS];
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool functions_prepare(const struct functions_machine *machine)
{
	all.machine = *machine;
	all.cpus = aligned_alloc(_Alignof(struct function_cpu), machine->cpus * sizeof(all.cpus[0]));
	for (uint32_t i = 0; all.cpus && i < machine->cpus; i++) {
		memset(&all.cpus[i], 0, sizeof(all.cpus[i]));
		pthread_mutex_init(&all.cpus[i].lock, NULL);
	}
	return all.cpus;
}

/* ---- the choice ---- */

/* Of those of this role; NULL: of those that the host traces. NULL: it is not there. */
static struct chosen *find(uint64_t start, const struct role *role)
{
	for (uint32_t i = 0; i < FUNCTIONS_MOST + FUNCTION_ROLES; i++)
		if (all.chosen[i].known && all.chosen[i].function.start == start && all.chosen[i].place.role == role)
			return &all.chosen[i];
	return NULL;
}

static struct chosen *find_free(uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++)
		if (!all.chosen[i].known)
			return &all.chosen[i];
	return NULL;
}

/* The one that it had before in this boot, or a new one. FUNCTION_NUMBERS: there are no more. */
static uint32_t number_of(uint64_t start)
{
	uint32_t number = 0;

	while (number < all.numbers && all.named[number].start != start)
		number++;
	return number;
}

static const char *choose(const struct ktop_function *function, uint32_t *index)
{
	struct chosen *place = find(function->start, NULL);
	uint32_t number = number_of(function->start);

	*index = 2 * number;
	place = place ? place : find_free(0, FUNCTIONS_MOST);
	if (!place)
		return "32 functions are traced already: drop one of them";
	if (number == FUNCTION_NUMBERS)
		return "256 functions were traced in this boot: no more have room";
	if (number == all.numbers)
		all.numbers++;
	all.named[number].start = function->start;
	strncpy(all.named[number].name, function->name, KTOP_NAME_MAX);
	*place = (struct chosen) { .known = true, .on = true, .function = *function, .number = number };
	place->function.name = NULL;
	all.changes++;
	return NULL;
}

/* NULL: functions can be followed; else why not. */
static const char *refusal(void)
{
	if (all.machine.qemu->read_virtual)
		return "this QEMU's registers are read by its interface for plugins alone, which is not enough";
	if (all.machine.qemu->guest_clock)
		return "the plugin goes by the guest's clock, which stands within a block: leave clock=guest out";
	return NULL;
}

const char *functions_choose(const struct ktop_function *function, uint32_t *index)
{
	const char *why = refusal();

	if (why)
		return why;
	pthread_mutex_lock(&all.lock);
	why = choose(function, index);
	pthread_mutex_unlock(&all.lock);
	if (!why)
		boot_retranslate();
	return why;
}

/* What is told once more is as before. */
static const char *place(const struct ktop_function *function, const struct role_place *told,
	struct ktop_placed *placed)
{
	struct chosen *chosen = find(function->start, told->role);

	if (chosen)
		return NULL;
	chosen = find_free(FUNCTIONS_MOST, FUNCTION_ROLES);
	if (!chosen)
		return "64 functions have roles already";
	*chosen = (struct chosen) { .known = true, .function = *function, .place = *told };
	chosen->function.name = NULL;
	all.traced = 0;				/* it may be on already */
	placed->index = all.has_calls ? UINT32_MAX : 2 * all.numbers;
	all.has_calls = true;
	return NULL;
}

const char *functions_place(const struct ktop_function *function, uint64_t value, struct ktop_placed *placed)
{
	const struct role_place told = { .role = role_named(function->name), .value = value };
	const char *why = told.role ? refusal() : "there is no such role";

	if (why)
		return why;
	*placed = (struct ktop_placed) { .events = told.role->events, .index = UINT32_MAX };
	pthread_mutex_lock(&all.lock);
	why = place(function, &told, placed);
	pthread_mutex_unlock(&all.lock);
	return why;
}

/* The events for which a function with a role is followed. */
static uint32_t events_of(const struct chosen *chosen)
{
	return chosen->place.role->events | chosen->place.role->others;
}

/* Those that tell what is traced now are on. True: others than before. */
static bool follow(uint32_t traced)
{
	bool changed = false;

	for (uint32_t i = FUNCTIONS_MOST; i < FUNCTIONS_MOST + FUNCTION_ROLES; i++) {
		struct chosen *chosen = &all.chosen[i];
		bool on = chosen->known && events_of(chosen) & traced;

		changed |= on != chosen->on;
		chosen->on = on;
	}
	all.traced = traced;
	all.changes += changed;
	return changed;
}

void functions_follow_events(void)
{
	uint32_t traced = __atomic_load_n(&all.ktop->trace[KTOP_TRACE_FIRST / 32], __ATOMIC_RELAXED);
	bool changed = false;

	pthread_mutex_lock(&all.lock);
	if (traced != all.traced)
		changed = follow(traced);
	pthread_mutex_unlock(&all.lock);
	if (changed)
		boot_retranslate();
}

bool functions_drop(uint64_t start)
{
	struct chosen *chosen;

	pthread_mutex_lock(&all.lock);
	chosen = find(start, NULL);
	if (chosen) {
		chosen->known = chosen->on = false;
		all.changes++;
	}
	pthread_mutex_unlock(&all.lock);
	if (chosen)
		boot_retranslate();
	return chosen;
}

static bool drop_all(void)
{
	bool any = false;

	for (uint32_t i = 0; i < FUNCTIONS_MOST; i++) {
		any |= all.chosen[i].on;
		all.chosen[i].known = all.chosen[i].on = false;
	}
	all.changes += any;
	return any;
}

void functions_drop_all(void)
{
	bool any;

	pthread_mutex_lock(&all.lock);
	any = drop_all();
	pthread_mutex_unlock(&all.lock);
	if (any)
		boot_retranslate();
}

bool functions_in_force(void)
{
	bool in_force;

	functions_follow_events();
	pthread_mutex_lock(&all.lock);
	in_force = !all.begun || all.taken == all.changes;
	pthread_mutex_unlock(&all.lock);
	return in_force;
}

/* The drainer alone changes the names, and calls this. An end that lacks its beginning has a name of its own. */
bool functions_number_at(uint32_t index, struct ktop_number *number)
{
	if (index >= 2 * all.numbers)
		return all.has_calls && role_number_at(index - 2 * all.numbers, number);
	*number = (struct ktop_number) {
		.event = index % 2 ? KTOP_EVENT_function_exit : KTOP_EVENT_function_enter,
		.number = index / 2, .name = all.named[index / 2].name,
	};
	return true;
}

/* ---- boots ---- */

void functions_hold_cpu(uint32_t index)
{
	pthread_mutex_lock(&all.cpus[index].lock);
}

void functions_go_on_cpu(uint32_t index)
{
	pthread_mutex_unlock(&all.cpus[index].lock);
}

void functions_hold(void)
{
	for (uint32_t i = 0; i < all.machine.cpus; i++)
		functions_hold_cpu(i);
}

void functions_go_on(void)
{
	for (uint32_t i = 0; i < all.machine.cpus; i++)
		functions_go_on_cpu(i);
}

static void forget_threads(void)
{
	for (uint32_t i = 0; i < all.machine.cpus; i++)
		all.cpus[i].kept = (struct moment_kept) { .stack = 0 };
}

void functions_begin(struct ktop *ktop)
{
	all.ktop = ktop;
	all.places.known = false;
	forget_threads();
	for (uint32_t i = 0; i < all.machine.cpus; i++)
		__atomic_store_n(&all.cpus[i].missed, 0, __ATOMIC_RELAXED);	/* of the boot that is over */
	KTOP_TELL(ktop, FUNCTION_EVENTS);
	pthread_mutex_lock(&all.lock);
	drop_all();
	follow(0);
	memset(all.chosen, 0, sizeof(all.chosen));
	all.has_calls = false;
	all.numbers = 0;
	memset(all.named, 0, sizeof(all.named));
	pthread_mutex_unlock(&all.lock);
}

void functions_follow(const struct ktop_task_places *places)
{
	all.places = *places;
	forget_threads();
}

/* ---- events, on the CPU's thread ---- */

/* The ring counts what was missed, as what its own writer could not write. */
static void count_missed(struct ktop *ktop, unsigned index)
{
	struct function_cpu *cpu = &all.cpus[index];

	ktop_count(&ktop_ring(&ktop->cpu[index], KTOP_TRACE)->nested, cpu->missed);
	cpu->missed = 0;
}

/* Is an event of this function traced, or its end? */
static bool is_traced(const struct chosen *chosen, bool enters)
{
	if (chosen->place.role)
		return __atomic_load_n(&all.ktop->trace[KTOP_TRACE_FIRST / 32], __ATOMIC_RELAXED) &
			events_of(chosen);
	return ktop_tracing(all.ktop, enters ? (uint32_t)KTOP_EVENT_function_enter : KTOP_EVENT_function_exit);
}

static void tell_function(const struct moment *moment, uint32_t number, bool enters)
{
	uint64_t sp = debugger_sp(moment->cpu);
	uint32_t thread = moment_thread(moment, sp);

	if (enters)
		ktop_trace_function_enter(all.ktop, thread, number, sp);
	else
		ktop_trace_function_exit(all.ktop, thread, number, sp);
}

static void tell(unsigned index, const struct chosen *chosen, bool enters)
{
	struct qemu_cpu *qemu_cpu = qemu_this_cpu();
	struct function_cpu *cpu = &all.cpus[index];
	const struct moment moment = {
		.ktop = all.ktop, .qemu = all.machine.qemu, .cpu = qemu_cpu, .places = &all.places, .kept = &cpu->kept,
	};

	if (index >= all.machine.cpus || !qemu_cpu || !is_traced(chosen, enters))
		return;
	if (pthread_mutex_trylock(&cpu->lock) != 0) {
		__atomic_fetch_add(&cpu->missed, 1, __ATOMIC_RELAXED);
		return;
	}
	if (cpu->missed)
		count_missed(all.ktop, index);
	boot_be_cpu(index);
	outside_current(KTOP_KERNEL, KTOP_NO_THREAD);
	if (!chosen->place.role)
		tell_function(&moment, chosen->number, enters);
	else
		(enters ? chosen->place.role->enter : chosen->place.role->leave)(all.ktop, &moment, &chosen->place);
	pthread_mutex_unlock(&cpu->lock);
}

static void enter(unsigned index, void *chosen)
{
	tell(index, chosen, true);
}

static void leave(unsigned index, void *chosen)
{
	tell(index, chosen, false);
}

/* ---- translation ---- */

bool functions_due(void)
{
	bool due;

	pthread_mutex_lock(&all.lock);
	due = all.changes != all.taken && !all.asked;
	all.asked |= due;
	pthread_mutex_unlock(&all.lock);
	return due;
}

static void widen(uint64_t start, uint64_t end)
{
	all.low = start < all.low ? start : all.low;
	all.high = end > all.high ? end : all.high;
}

bool functions_take(void)
{
	all.low = UINT64_MAX;
	all.high = 0;
	pthread_mutex_lock(&all.lock);
	memcpy(all.active, all.chosen, sizeof(all.active));
	all.taken = all.changes;
	all.asked = false;
	all.begun = true;
	pthread_mutex_unlock(&all.lock);
	for (uint32_t i = 0; i < all.machine.cpus; i++)
		all.cpus[i].kept.depth = 0;		/* what has begun may have ended, untold */
	for (uint32_t i = 0; i < FUNCTIONS_MOST + FUNCTION_ROLES; i++)
		if (all.active[i].on) {
			widen(all.active[i].function.start, all.active[i].function.end);
			if (all.active[i].function.cold)
				widen(all.active[i].function.cold, all.active[i].function.cold_end);
		}
	return all.high;
}

static bool is_in(const struct ktop_function *function, uint64_t address)
{
	return (address >= function->start && address < function->end) ||
		(address >= function->cold && address < function->cold_end);
}

static bool leaves(const struct ktop_function *function, const struct qemu_plugin_insn *insn, uint64_t address)
{
	uint8_t bytes[INSTRUCTION_MOST];
	size_t size = instruction_bytes(all.machine.api, insn, bytes);
	uint64_t target;

	switch (instruction_way(all.machine.arch, address, bytes, size, &target)) {
	case WAY_RETURN:
		return true;
	case WAY_JUMP:
		return !is_in(function, target);
	default:
		return false;
	}
}

static void look_at(struct qemu_plugin_insn *insn, uint64_t address)
{
	for (uint32_t i = 0; i < FUNCTIONS_MOST + FUNCTION_ROLES; i++) {
		struct chosen *chosen = &all.active[i];
		const struct role *role = chosen->place.role;

		if (!chosen->on || !is_in(&chosen->function, address))
			continue;
		if (address == chosen->function.start)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, enter, QEMU_PLUGIN_READS_REGISTERS, chosen);
		if ((!role || role->leave) && leaves(&chosen->function, insn, address))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, leave, QEMU_PLUGIN_READS_REGISTERS, chosen);
	}
}

void functions_block(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		if (address >= all.low && address < all.high)
			look_at(insn, address);
	}
}
