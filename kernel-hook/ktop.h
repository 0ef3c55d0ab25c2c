/* SPDX-License-Identifier: MIT */
/*
 * The functions that a kernel calls. The comment of each names the contexts from which it may be called:
 *
 *   any         thread, interrupt or NMI
 *   irq off     thread or interrupt, with interrupts masked on this CPU; not NMI
 *   thread      a context that can be scheduled
 *   serial      thread or irq off; the kernel never makes two such calls at once
 *
 * No function waits, allocates memory or faults. docs/porting.md explains a port step by step. Trace points are in
 * trace.h; port.h has what the hook calls. It is one file, so that whoever ports ktop has one to read.
 */
#ifndef KTOP_H
#define KTOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktop;
struct ktop_transport;

/* The registers of the interrupted code. The stack is walked from them. */
struct ktop_regs {
	uint64_t pc, sp, fp;		/* program counter, stack pointer, frame pointer */
	bool user;			/* the CPU was in user mode */
	uint64_t link;			/* riscv64: the register ra; 0: not known */
};

/* A function of the kernel. */
struct ktop_symbol {
	uint64_t address;		/* where it runs */
	uint32_t size;			/* bytes, not 0 */
	const char *name;		/* valid until the next call */
};

/*
 * thread, in ktop_drain(). A kernel that knows the names of its own functions gives this one: it finds the first
 * function that ends above `from`. False: there is none.
 */
typedef bool ktop_symbol_after(uint64_t from, struct ktop_symbol *symbol);

/* What a number is called that stands in a trace event: that of a system call, or of an interrupt. */
struct ktop_number {
	/*
	 * KTOP_EVENT_syscall_enter, _irq_enter, _softirq_enter, _lock_wait, _memory_alloc, _block_begin, _net_send,
	 * _signal_send, _mark; or one of the kernel's own that has a field `number`.
	 */
	uint32_t event;
	uint64_t number;
	const char *name;		/* valid until the next call; NULL: it has none */
	/*
	 * Of a system call: its arguments, six at most, each with a type and a name: "s32 file;u64 address;u64 size;".
	 * "": it has none. NULL: not told. Valid as the name is; at most KTOP_ARGUMENTS_MAX bytes.
	 */
	const char *arguments;
};
enum { KTOP_ARGUMENTS_MAX = 255 };	/* bytes */

/* thread, in ktop_drain(). Gives the numbers one by one; the first has `index` 0. False: there are no more. */
typedef bool ktop_number_at(uint32_t index, struct ktop_number *number);

/*
 * thread, in ktop_init() or ktop_drain(). A kernel whose CPUs have counters that count only while the CPU works
 * gives this one. From now on each CPU's counter overflows about `rate` times in a second of work, and its NMI calls
 * ktop_overflow(); 0: never. Returns NULL, or a text that says why this machine cannot.
 */
typedef const char *ktop_counters(uint32_t rate);

/*
 * Where a kernel keeps which thread a CPU runs. The address of the thread's structure is read at `base + pointer`; with
 * `itself`, it is the base. (docs/wire.md, raw_sample, says what the base is.) The other numbers are offsets in that
 * structure: of the 32-bit ids of process and thread; of the name, of 16 bytes at most; and of a pointer, `memory`,
 * which is 0 for a thread of the kernel's own. `known`: the rest is set. `states`: so are, in that structure, the
 * offsets of its 32-bit state, and of 32 bits that are not 0 while the scheduler has it in its queue. At
 * `base + context` are the 32 bits that tell what the CPU does (Linux: preempt_count).
 */
struct ktop_task_places {
	bool known, itself, states;
	uint64_t pointer, process, thread, name, memory, state, queued, context;
};

/*
 * thread, in ktop_drain(). A hook outside the guest that can read the guest's memory gives these. All
 * return at once: what is asked for is read later, and sent then (wire.h: memory).
 */
struct ktop_memory {
	/* Asks for `count` pages of 4 KiB, from this address on. False: there are too many under way. */
	bool (*ask)(bool physical, uint64_t address, uint32_t count);
	/* Writes the payload of a page that was read, and forgets the page. Returns its bytes; 0: there is none. */
	uint32_t (*next)(uint8_t *to);
	/* From now on, samples tell their threads. */
	void (*follow)(const struct ktop_task_places *places);
};

/* A function of the guest, by run addresses; `end` is exclusive. What it seldom runs may stand apart: `cold`, or 0. */
struct ktop_function {
	uint64_t start, end, cold, cold_end;
	const char *name;		/* valid during the call; 63 bytes of it count */
};

/* The events that can be traced now, bits as of KTOP_UNTRACED(); and the index of the first number that is news. */
struct ktop_placed {
	uint32_t events, index;
};

/*
 * thread, in ktop_drain(). A hook outside the guest that sees it come to an instruction gives these. It tells when a
 * chosen function is entered and left, as events of its own kinds, whose field `number` is the function's.
 */
struct ktop_functions {
	/* Sets the index from which on facts.numbers tells something new. Returns NULL, or why it is not traced. */
	const char *(*choose)(const struct ktop_function *function, uint32_t *index);
	bool (*drop)(uint64_t start);	/* false: none that begins there is traced */
	void (*drop_all)(void);
	bool (*in_force)(void);		/* all of the choice is: none of these calls is left to be obeyed */
	/*
	 * The kernel does at this function what some trace events tell: `role` and `value` are plugin/roles.c's. It is
	 * followed while they are traced. Returns NULL, or why it is not.
	 */
	const char *(*place)(const struct ktop_function *function, uint64_t value, struct ktop_placed *placed);
};

/* Its bit: KTOP_UNTRACED(fault) | ... */
#define KTOP_UNTRACED(event) (1u << (KTOP_EVENT_##event - KTOP_TRACE_FIRST))

/* Fixed facts of this boot. The texts are copied, and cut to 63 bytes; NULL: unknown. */
struct ktop_facts {
	const char *kernel, *version, *arch;	/* arch as `uname -m` prints it: "x86_64" */
	uint8_t boot_id[16];		/* random bytes, new at each boot */
	uint32_t cpus;			/* how many CPUs this machine has, 1 to 4096 */
	uint64_t clock_hz;		/* of ktop_port_clock(); 0: unknown, periods are taken as if it were 1 GHz */
	uint64_t epoch_ns;		/* unix time in ns when the clock was 0; 0: unknown */
	const char *anchor;		/* the name of a symbol: shows how far the kernel was moved */
	uint64_t anchor_address;	/* where that symbol runs */
	const uint8_t *build_id;	/* of the kernel image; NULL: unknown */
	uint32_t build_id_size;		/* bytes, at most 32; a longer id counts as unknown */
	ktop_symbol_after *symbols;	/* NULL: the host takes the symbols from a file */
	ktop_number_at *numbers;	/* NULL: numbers have no names */
	const struct ktop_memory *memory;	/* NULL: none is read for the host */
	const struct ktop_functions *functions;	/* NULL: functions are not traced for the host */
	ktop_counters *counters;	/* NULL: there are none; the last CPU sends the NMIs */
	uint32_t untraced;		/* KTOP_UNTRACED() of each event of wire.h that the kernel has not */
	/*
	 * thread, in ktop_init(). The physical address of the page at this address. With it, the hook is found in the
	 * memory of a machine that has died: `ktop crash` makes a recording of it. NULL: it cannot be.
	 */
	uint64_t (*physical)(const void *page);
	uint8_t outside;		/* KTOP_OUTSIDE or KTOP_STUB (wire.h): ktop_tick() interrupts no code; else 0 */
};

/* What a kernel may set. 0 means the default, which is the value after the ';'. */
struct ktop_settings {
	uint32_t rate;			/* samples a second on each CPU, 1 to 20000; 997 */
	uint32_t ring_size;		/* bytes per CPU and class, a power of two, 4 KiB to 1 GiB; 256 KiB */
	bool plain_keys;		/* A starts and B stops, without Ctrl and Alt */
	bool start;			/* sample from ktop_init() on */
	bool nmi;			/* sample by NMI; by timer if NMIs cannot be had */
	bool no_sampler;		/* take no samples until a sampler is chosen: trace alone */
	/* How many names are kept at a time: powers of two up to 2^20; 1024, 4096, 512. Each takes some 180 bytes. */
	uint32_t processes, threads, objects;
	uint32_t events;		/* trace events of the kernel's own: a power of two up to 512; 64 */
	/*
	 * The words of a control line `events` (docs/wire.md), such as "+sched +syscall": on from ktop_init() on. Not
	 * the kernel's own, which it describes later. NULL: none.
	 */
	const char *trace;
};

/*
 * any. Bytes of memory that ktop_init() needs for so many CPUs and these settings; NULL: the defaults. 0: the number
 * of CPUs or a setting is out of range, or the bytes are more than this CPU can address.
 */
size_t ktop_memory_size(uint32_t cpus, const struct ktop_settings *settings);

/*
 * thread, once. The memory, aligned to 64 bytes, and the transport stay the hook's for ever. `settings` NULL: the
 * defaults. `transport` NULL: the hook counts events, and keeps the newest. Returns NULL if the number of CPUs or a
 * setting is out of range, or the memory is too small or not aligned.
 */
struct ktop *ktop_init(const struct ktop_facts *facts, const struct ktop_settings *settings,
	struct ktop_transport *transport, void *memory, size_t size);

/* ---- sampling ---- */

/*
 * irq off. This CPU's timer interrupt calls it, with the registers of the interrupted code. It returns at once while
 * profiling is off or no sample is due. It asks for its next call through ktop_port_timer(). A kernel with a fixed
 * tick may ignore that, and then sets a rate that is no higher than its ticks: a sample stands for at most 8 periods.
 */
void ktop_tick(struct ktop *ktop, const struct ktop_regs *regs);

/* NMI. Every NMI calls it. True: the NMI was the hook's own. */
bool ktop_nmi(struct ktop *ktop, const struct ktop_regs *regs);

/* NMI or irq off. This CPU's counter has overflowed (ktop_counters). ktop_tick() is called as before. */
void ktop_overflow(struct ktop *ktop, const struct ktop_regs *regs);

/* any. True: this CPU is set aside to send NMIs to the others. It then runs nothing but ktop_pace(). */
bool ktop_set_aside(const struct ktop *ktop, uint32_t cpu);

/*
 * thread or irq off, on the CPU that is set aside alone. Sends the NMIs that are due, and returns the clock value at
 * which to call it again.
 */
uint64_t ktop_pace(struct ktop *ktop);

/* ---- names (serial): they are kept in name tables of a fixed size, and sent again to each new host ---- */

/* A file that is mapped: the kernel, a module, a program, a library. */
struct ktop_object {
	uint32_t process;		/* whose address space; KTOP_KERNEL: the kernel's */
	uint64_t start, end;		/* where it is mapped; end is exclusive */
	uint64_t bias;			/* address where it runs minus address for which it was linked */
	const char *name;		/* file name or path */
	const uint8_t *build_id;	/* NULL: unknown */
	uint32_t build_id_size;		/* bytes, at most 32; a longer id counts as unknown */
};

/*
 * A new name of an id replaces the old one. Call exit before the id is used again; exit of a process also ends its
 * objects. Names are copied, and cut to 63 bytes. A name that finds no place in its name table is counted as lost.
 */
void ktop_process(struct ktop *ktop, uint32_t process, const char *name);
void ktop_process_exit(struct ktop *ktop, uint32_t process);
void ktop_thread(struct ktop *ktop, uint32_t thread, uint32_t process, const char *name);
void ktop_thread_exit(struct ktop *ktop, uint32_t thread);
void ktop_object(struct ktop *ktop, const struct ktop_object *object);

/*
 * serial among its own calls. A program marks this moment with a text, of which 63 bytes count: an event `mark` of this
 * thread; nothing while marks are not traced. Texts are kept as names are. False: 32 others are kept already, and this
 * one is counted as lost.
 */
bool ktop_mark(struct ktop *ktop, uint32_t thread, const char *text);

/* thread, the one that calls ktop_drain(). facts.symbols has new functions from this address on. */
void ktop_symbols(struct ktop *ktop, uint64_t from);

/* ---- the rest ---- */

/*
 * thread. Says that from now on each byte from the PS/2 controller goes to ktop_serio(). Only then does the host
 * press keys to start and stop profiling; otherwise it uses the port.
 */
void ktop_keys_heard(struct ktop *ktop);

/*
 * irq off. Takes each byte from PS/2 port `index` (0 keyboard, 1 mouse), in order. True: the byte belongs to a key of
 * ktop's, and the kernel drops it. The next ktop_drain() does what the key asks for.
 */
bool ktop_serio(struct ktop *ktop, uint32_t index, uint8_t byte);

/*
 * thread. One thread calls it, the drainer: every 50 ms, or else by the time that ktop_drain_by() gives. It takes
 * control lines and sends packets, a bounded number of both. True: more is ready; call again at once.
 */
bool ktop_drain(struct ktop *ktop);

/*
 * thread, the drainer, after ktop_drain() has returned false. Returns the clock value by which to call it again, at
 * most 90 ms later: the host then gets its heartbeats in time, and the rings do not overflow.
 */
uint64_t ktop_drain_by(const struct ktop *ktop);

/*
 * any. The kernel panics: nothing more is written to the rings, so that they show what came before. The first text is
 * kept, 123 bytes of it.
 */
void ktop_died(struct ktop *ktop, const char *why);

/* any. Is profiling on? */
bool ktop_running(const struct ktop *ktop);

/*
 * any. Events of this CPU's stream, KTOP_SAMPLES or KTOP_TRACE (wire.h), since boot: all of them; those of them that
 * were dropped.
 */
uint64_t ktop_taken(const struct ktop *ktop, uint32_t cpu, uint32_t stream);
uint64_t ktop_lost(const struct ktop *ktop, uint32_t cpu, uint32_t stream);

#endif
