/* SPDX-License-Identifier: MIT */
/*
 * What a kernel calls. Each function names the contexts from which it may be called:
 *
 *   any         thread, interrupt or NMI
 *   irq off     thread or interrupt with interrupts masked on this CPU, not NMI
 *   thread      a schedulable context
 *   serial      thread or irq off, and the caller never makes two such calls at once
 *
 * Nothing here waits, allocates or faults. docs/porting.md walks through a port. Trace points: trace.h.
 */
#ifndef KTOP_H
#define KTOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktop;
struct ktop_transport;

/* The interrupted context, from which a stack is walked. */
struct ktop_regs {
	uint64_t pc, sp, fp;
	bool user;			/* the CPU was in user mode */
};

/* A function of the kernel, where it runs. */
struct ktop_symbol {
	uint64_t address;
	uint32_t size;			/* bytes, not 0 */
	const char *name;		/* good until the next question */
};

/*
 * thread, in ktop_drain(). The first function that ends above `from`, for a kernel that knows its
 * own names; false: there is none.
 */
typedef bool ktop_symbol_after(uint64_t from, struct ktop_symbol *symbol);

/*
 * thread, in ktop_init() or ktop_drain(). For a kernel whose CPUs each have a counter of their own
 * work, which stands still while the CPU is halted: from now on each overflows about so many times in
 * a second of work, 0: never, and its NMI calls ktop_overflow(). NULL, or why this machine cannot.
 */
typedef const char *ktop_counters(uint32_t rate);

/* Fixed facts of this boot. Texts are copied; an unknown one is NULL. */
struct ktop_facts {
	const char *kernel, *version, *arch;	/* arch as `uname -m` has it: "x86_64" */
	uint8_t boot_id[16];		/* new at each boot */
	uint32_t cpus;			/* how many this machine has */
	uint64_t clock_hz;		/* of ktop_port_clock(); 0: unknown, the rate is as if 1 GHz */
	uint64_t epoch_ns;		/* unix time at clock 0; 0: unknown */
	const char *anchor;		/* name of a symbol, and where it runs: gives the slide */
	uint64_t anchor_address;
	const uint8_t *build_id;	/* of the kernel image; NULL: unknown */
	uint32_t build_id_size;
	ktop_symbol_after *symbols;	/* NULL: the host has a file of symbols */
	ktop_counters *counters;	/* NULL: the last CPU sends the NMIs */
};

/* What a kernel may set; zero means the default. */
struct ktop_settings {
	uint32_t rate;			/* samples per second on each CPU, 1 to 20000; 997 */
	uint32_t ring_size;		/* bytes per CPU and class, a power of two; 256 KiB */
	bool plain_keys;		/* A and B alone, instead of with Ctrl and Alt */
	bool start;			/* sample from ktop_init() on */
	bool nmi;			/* by NMI; by timer where that cannot be */
	/* Names kept at a time, powers of two up to 2^20; 1024, 4096, 512. A row takes some 180 bytes. */
	uint32_t processes, threads, objects;
	uint32_t events;		/* trace events of the kernel's own, likewise, up to 512; 64 */
};

/* Bytes of memory, aligned to 64, that ktop_init wants for so many CPUs. */
size_t ktop_memory_size(uint32_t cpus, const struct ktop_settings *settings);

/*
 * thread, once. The memory stays the hook's for ever. NULL when the settings or the size are wrong.
 * The transport may be NULL: the hook then counts and drops.
 */
struct ktop *ktop_init(const struct ktop_facts *facts, const struct ktop_settings *settings,
	struct ktop_transport *transport, void *memory, size_t size);

/* ---- sampling ---- */

/*
 * irq off: this CPU's timer interrupt. Returns at once while off or not yet due. Asks through
 * ktop_port_timer() for its next call; a kernel with a fixed tick only may ignore that wish, and
 * then sets a rate of no more than its ticks: a sample stands for at most 8 periods.
 */
void ktop_tick(struct ktop *ktop, const struct ktop_regs *regs);

/* NMI: true when the NMI was the hook's own. */
bool ktop_nmi(struct ktop *ktop, const struct ktop_regs *regs);

/* NMI, or irq off: this CPU's counter has overflowed (ktop_counters). ktop_tick() goes on as ever. */
void ktop_overflow(struct ktop *ktop, const struct ktop_regs *regs);

/*
 * any: is this CPU the one set aside to pace the others by NMI? Its scheduler then runs nothing
 * but ktop_pace(), which sends what is due and returns the clock value to be called again at.
 * ktop_pace(): thread or irq off, on that CPU alone.
 */
bool ktop_set_aside(const struct ktop *ktop, uint32_t cpu);
uint64_t ktop_pace(struct ktop *ktop);

/* ---- names (serial): kept in fixed tables and sent again to each new host ---- */

struct ktop_object {
	uint32_t process;		/* KTOP_KERNEL: the kernel's own space */
	uint64_t start, end;		/* run addresses */
	uint64_t bias;			/* run address minus link address */
	const char *name;		/* file name or path */
	const uint8_t *build_id;	/* NULL: unknown */
	uint32_t build_id_size;
};

void ktop_process(struct ktop *ktop, uint32_t process, const char *name);
void ktop_process_exit(struct ktop *ktop, uint32_t process);
void ktop_thread(struct ktop *ktop, uint32_t thread, uint32_t process, const char *name);
void ktop_thread_exit(struct ktop *ktop, uint32_t thread);
void ktop_object(struct ktop *ktop, const struct ktop_object *object);

/* thread, the caller of ktop_drain(): facts.symbols has something new from this address on. */
void ktop_symbols(struct ktop *ktop, uint64_t from);

/* ---- the rest ---- */

/*
 * thread: from now on each byte that comes from PS/2 goes to ktop_serio(). Only a kernel that has
 * said so has keys typed into it by the host; any other is started and stopped by the port.
 */
void ktop_keys_heard(struct ktop *ktop);

/*
 * irq off: each byte from PS/2 port `index` (0 keyboard, 1 mouse), in order. True: the byte
 * belongs to a ktop key and the kernel drops it; else it goes on as before. What the key asks for
 * is done by the next ktop_drain().
 */
bool ktop_serio(struct ktop *ktop, uint32_t index, uint8_t byte);

/*
 * thread, one caller, at least every 50 ms, or else each time by when ktop_drain_by() says: control
 * lines in, packets out, a bounded number. True: more is ready, call again soon.
 */
bool ktop_drain(struct ktop *ktop);

/*
 * thread, that caller, after a ktop_drain() that returned false: the clock value by which to call it
 * again, at most 90 ms later. So the host gets its heartbeats in time, and rings do not fill.
 */
uint64_t ktop_drain_by(const struct ktop *ktop);

/* any: is profiling on? */
bool ktop_running(const struct ktop *ktop);

/* any: events of this CPU's stream (wire.h) since boot: all, and those of them that were dropped. */
uint64_t ktop_taken(const struct ktop *ktop, uint32_t cpu, uint32_t stream);
uint64_t ktop_lost(const struct ktop *ktop, uint32_t cpu, uint32_t stream);

#endif
