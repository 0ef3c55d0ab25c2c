/* SPDX-License-Identifier: MIT */
/*
 * What the decoder makes of the wire: events with the full time, in the host's own types.
 * kernel-hook/wire.h says what each field means. One file for all, as there: each event has its structure.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/base/arch_id.h"

#define EVENT_KERNEL 0xffffffffu	/* the kernel's address space; also "no process" */
#define EVENT_NONE 0xffffffffu		/* no thread, no CPU */
#define EVENT_OTHERS 0xfffffffeu	/* of switches: threads that the guest's filters leave out, or none */

enum {
	EVENT_CLOCK_HZ = 1000000000,	/* the guest's clock, when the guest does not tell its speed */
	EVENT_CLOCK_LEAST_HZ = 1000,	/* a guest that tells less is not believed */
};

/* The first ids of those trace events that can be switched on, and of the kernel's own among them. */
enum { EVENT_TRACE_FIRST = 32, EVENT_TRACE_USER = 64 };
enum { EVENT_CPUS = 4096 };		/* more than any guest has: larger numbers are damage */

enum stream { STREAM_META, STREAM_SAMPLES, STREAM_TRACE, STREAMS };
enum mode { MODE_KERNEL, MODE_USER, MODE_IDLE, MODES };
/* Where in the kernel: a thread's own work, the handler of an interrupt, a softirq. UNTOLD: the guest does not say. */
enum context { CONTEXT_UNTOLD, CONTEXT_TASK, CONTEXT_IRQ, CONTEXT_SOFTIRQ, CONTEXTS };
/* OUTSIDE: the plugin in QEMU; STUB: ktop's client of QEMU's gdb stub; NONE: the guest traces, and takes no samples. */
enum sampler { SAMPLER_TIMER, SAMPLER_NMI, SAMPLER_OUTSIDE, SAMPLER_STUB, SAMPLER_NONE };

/* The word for it on the screen and in reports. */
static inline const char *sampler_word(enum sampler sampler)
{
	return sampler == SAMPLER_NMI ? "nmi" : sampler == SAMPLER_OUTSIDE ? "plugin" :
		sampler == SAMPLER_STUB ? "gdb" : sampler == SAMPLER_NONE ? "none" : "timer";
}

/* It samples from outside the guest. The stub gives no trace events. */
static inline bool sampler_is_outside(enum sampler sampler)
{
	return sampler == SAMPLER_OUTSIDE || sampler == SAMPLER_STUB;
}

/* Those that a user may choose; and the one with this place among them. */
#define SAMPLER_CHOICES "timer|nmi|none"
static inline enum sampler sampler_chosen(int place)
{
	return place == 2 ? SAMPLER_NONE : (enum sampler)place;
}

/* Bytes inside the packet: not terminated, only their length was checked, valid during the call only. */
struct text {
	const char *bytes;
	size_t size;
};

struct sample {
	uint32_t process, thread;
	enum mode mode;
	enum context context;		/* UNTOLD unless the mode is MODE_KERNEL */
	bool kernel_cut, user_cut;	/* the walk ended before the last caller */
	bool entry;			/* taken in an entry stub, or on another stack: kernel[] has one frame */
	bool user_exact;		/* user[0] is an interrupted PC, not a return address */
	uint32_t weight;		/* sampling periods */
	bool called;			/* kernel[0] is a return address, into the function of a trace point; */
	uint64_t exact;			/* else an interrupted PC; so is kernel[i], if bit i is set */
	uint32_t kernel_count, user_count;
	const void *kernel, *user;	/* read by sample_frame(), leaf first; at most 64 each */
	bool walked;			/* it was a raw sample, of which these are left: */
	enum arch_id arch;
	uint64_t space;
	struct text name;
};

/* Frames stand in the packet as they came, at any alignment. */
static inline uint64_t sample_frame(const void *frames, uint32_t index)
{
	uint64_t frame;

	memcpy(&frame, (const uint8_t *)frames + index * sizeof(frame), sizeof(frame));
	return frame;
}

/* The state of a CPU, read from outside the guest, or that of its program. Nobody has walked its stack yet. */
struct raw_sample {
	bool of_program;		/* from the guest's hook: `told` has what it has walked, and who ran */
	struct sample told;
	uint32_t process, thread;	/* valid if `name` is not empty: the thread that ran, by the kernel's numbers */
	struct text name;		/* of the thread */
	uint32_t owner;			/* if `name` is empty: the process of its page tables; 0: not known */
	uint32_t weight;
	enum mode mode;			/* MODES: not known */
	enum arch_id arch;
	uint64_t space;			/* address of the root of its page tables; 0: not known */
	uint64_t base;			/* address of the kernel's data for this CPU or thread; 0: not known */
	uint64_t valid;			/* bit i: register i was read */
	uint32_t register_count;	/* at most 64, with DWARF's numbers; read by raw_sample_register() */
	const void *registers;
	uint64_t stack_address;		/* of the first byte of `stack`, which has 2048 at most */
	struct text stack;
	uint64_t linked_address;	/* likewise of `linked`: more of that stack, or the one it leads to */
	struct text linked;
	uint64_t user_address;		/* likewise of `user`: the stack of the program for which the kernel works */
	struct text user;
};

/* False: the register was not read. */
static inline bool raw_sample_register(const struct raw_sample *raw, uint32_t number, uint64_t *value)
{
	if (number >= raw->register_count || !(raw->valid >> number & 1))
		return false;
	*value = sample_frame(raw->registers, number);
	return true;
}

struct guest {
	uint32_t cpus;
	uint64_t clock_hz;		/* ticks of the guest's clock in a second; 0: not known */
	uint64_t epoch_ns;		/* Unix time at its tick 0; 0: not known */
	uint64_t anchor_address;	/* where the kernel's symbol `anchor` runs */
	struct text kernel, version, arch, anchor, build_id;
};

struct object {
	uint32_t process;		/* EVENT_KERNEL: mapped into the kernel */
	uint64_t start, end, bias;	/* run addresses; run address minus link address */
	bool by_offset;			/* `bias` is the run address minus the offset in the file */
	uint64_t contents;		/* which file it is, as in struct process_area (processes.h); 0: not known */
	struct text name, build_id;
};

struct status {
	bool running;			/* the profiler is on: it samples, traces, or does both */
	enum sampler sampler;
	uint32_t rate, sampler_cpu, trace_mask;
	uint64_t meta_lost;		/* meta events that the guest has dropped */
	struct text note;		/* why the chosen sampler does not run; "" if it does */
};

struct cpu_status {
	uint32_t cpu;
	enum stream stream;
	bool enabled;
	uint64_t taken, lost, cost, span;	/* events, events, clock ticks, clock ticks */
	uint32_t used, size;			/* ring bytes */
};

/* The guest's tables of names. */
enum table_kind { TABLE_PROCESSES, TABLE_THREADS, TABLE_OBJECTS, TABLE_EVENTS, TABLE_MARKS, TABLES };

struct table_fill {			/* how full a table is; sent from when it was too small for the first time */
	uint16_t event;			/* the id of the event that a row of it holds */
	enum table_kind kind;		/* TABLES: this ktop does not know the event */
	uint32_t size, used, missing;	/* rows; rows in use; ids that found no row */
};

/* A part of the guest's memory, as a control line has asked for it: within one page. */
struct memory_bytes {
	bool physical;
	bool packed;			/* `bytes` are a page packed by zstd */
	uint64_t address;
	struct text bytes;		/* size 0: no memory is there */
	uint64_t time;			/* guest ns; 0: not known. By epoch.c */
};

struct trace_kind;

enum event_kind {
	EVENT_GUEST, EVENT_PROCESS, EVENT_THREAD, EVENT_OBJECT, EVENT_STATUS, EVENT_CPU_STATUS,
	EVENT_KEYS, EVENT_REPLY, EVENT_SYMBOL, EVENT_TABLE, EVENT_DESCRIPTOR, EVENT_SAMPLE, EVENT_MISSED,
	EVENT_RAW_SAMPLE, EVENT_TRACING, EVENT_MEMORY, EVENT_NUMBER, EVENT_ARGUMENTS, EVENT_LEFT_OUT, EVENT_FILTERS,
	EVENT_STACK, EVENT_TRACE,
};

struct event {
	enum event_kind kind;
	uint16_t id;			/* as on the wire */
	uint32_t cpu;
	uint64_t time;			/* guest clock ticks */
	union {
		struct guest guest;
		struct { uint32_t process; struct text name; } process;
		struct { uint32_t thread, process; struct text name; } thread;
		struct object object;
		struct status status;
		struct cpu_status cpu_status;
		struct { struct text on, off; } keys;	/* set-1 make codes */
		struct { bool ok; struct text text; } reply;
		struct { uint64_t address; uint32_t size; struct text name; } symbol;
		struct { uint16_t event; enum stream stream; struct text name, fields; } descriptor;
		struct { uint16_t event; uint64_t number; struct text name; } number;
		struct { uint16_t event; uint64_t number; struct text fields; } arguments;
		struct { uint32_t cpu; uint64_t pairs; } left_out;	/* by the guest's filters, since boot */
		struct text filters;
		struct table_fill table;
		struct memory_bytes memory;
		struct sample sample;
		struct raw_sample raw;
		struct { uint32_t ticks; } missed;
		struct { uint32_t ids, words; const void *mask; } tracing;	/* bit i of word w: event 32 * w + i */
		struct { uint16_t event; struct sample sample; } stack;	/* sample: its kernel[] and what is of that */
		struct {
			const struct trace_kind *kind;
			const void *fields;	/* fields.h */
			size_t size;
			bool held;		/* it happened `ago` ticks before, and */
			uint64_t ago;
			const struct trace_kind *end;	/* this, its end, now; NULL: another event comes now */
			uint8_t end_fields[16];
		} trace;
	};
};

#endif
