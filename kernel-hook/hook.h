/* SPDX-License-Identifier: MIT */
/* The inside of struct ktop, for the hook's own files. Who writes a field stands above it; everybody may read. */
#ifndef KTOP_HOOK_H
#define KTOP_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/grid.h"
#include "base/packet.h"
#include "base/ring.h"
#include "control.h"
#include "filter.h"
#include "hotkeys.h"
#include "ktop.h"
#include "meta.h"
#include "trace.h"
#include "wire.h"

enum {
	KTOP_CLASSES = KTOP_STREAMS - 1,	/* rings of a CPU: KTOP_SAMPLES and KTOP_TRACE */
	KTOP_GAP = 8,			/* periods; a longer gap counts as missed, not as weight of a sample */
	KTOP_RATE_MAX = 20000,		/* samples a second on each CPU */
	KTOP_STACK_FRAMES = 16,		/* of a trace event, if no number is chosen */
};

/*
 * The beginning of a call or an interrupt, while no other event of its CPU has come: its fields are in the ring where
 * the next record goes, behind a word, and nobody else reads them. The thread of a call leaves its CPU by a switch,
 * which is an event, too.
 */
struct ktop_held {
	uint32_t id;			/* 0: there is none */
	uint32_t changes;		/* the CPU's, when it came */
	uint64_t time;
};

/* The bytes and forms of an event that may be held; all 0: it may not. And what this event ends; 0: no such one. */
struct ktop_forms {
	uint32_t size, began, whole;
};
static inline struct ktop_forms ktop_forms_of(uint32_t begin)
{
	switch (begin) {
	case KTOP_EVENT_syscall_enter:
		return (struct ktop_forms) { sizeof(struct ktop_wire_syscall_enter), KTOP_EVENT_syscall_began,
			KTOP_EVENT_syscall_whole };
	case KTOP_EVENT_irq_enter:
		return (struct ktop_forms) { sizeof(struct ktop_wire_irq_enter), KTOP_EVENT_irq_began,
			KTOP_EVENT_irq_whole };
	case KTOP_EVENT_softirq_enter:
		return (struct ktop_forms) { sizeof(struct ktop_wire_softirq_enter), KTOP_EVENT_softirq_began,
			KTOP_EVENT_softirq_whole };
	default:
		return (struct ktop_forms) { .size = 0 };
	}
}

static inline uint32_t ktop_begin_of(uint32_t end)
{
	return end == KTOP_EVENT_syscall_exit ? KTOP_EVENT_syscall_enter : end == KTOP_EVENT_irq_exit ?
		KTOP_EVENT_irq_enter : end == KTOP_EVENT_softirq_exit ? KTOP_EVENT_softirq_enter : 0;
}

/* The pairs of events that may be held are the first groups of filter.h: that of a beginning. */
static inline uint32_t ktop_pair_of(uint32_t begin)
{
	return begin == KTOP_EVENT_syscall_enter ? 0 : begin == KTOP_EVENT_irq_enter ? 1 : 2;
}

/*
 * One CPU. With NMIs, the CPU set aside counts what is due and sent, and this CPU counts what it has answered.
 *
 * A generation begins with each start of profiling, and whenever the rate or the choice of CPUs changes: all CPUs then
 * start their grids anew. Generations are numbered. A CPU compares the newest number with that of its own grid.
 *
 * Barrier pair 4: sampler.c sets the period, then releases each generation and, if it changes, the sampler. ktop_tick()
 * and ktop_pace() acquire the sampler, then the generation, and then read the period for a new grid. A new generation
 * therefore comes with its period.
 */
struct ktop_cpu {
	/* ring.h says who writes what in them */
	struct ktop_ring rings[KTOP_CLASSES];

	/* written by this CPU's trace points, with interrupts masked */
	struct ktop_held held;
	int32_t unmeasured;		/* trace points until the next one that is timed */
	bool switches;			/* this kernel has told of one here: calls may be held */
	uint64_t left_out;		/* events and pairs of them that the filters have left out */

	/* written by this CPU's sampler */
	struct ktop_grid grid;		/* of the timer */
	uint32_t started;		/* the generation that `grid` was started for; 0: the grid is stopped */
	uint64_t missed;		/* periods in gaps that are not yet reported */
	uint64_t done;			/* NMI: rounds of `due` that have had their sample */
	uint32_t answered;		/* NMI: how many of `sent` were answered */
	int64_t owed[2];		/* counters: rounds that have no sample yet, [1] with a thread, [0] without */

	/* written by the CPU set aside */
	uint64_t due __attribute__((aligned(64)));	/* rounds since boot */
	uint64_t begun;			/* of them, those before the generation that the pacer was started for */
	uint64_t asked;			/* `due` when the last NMI was sent */
	uint32_t sent;			/* NMIs since boot; the drainer sends one to try (sampler.c) */

	/* written by the drainer */
	uint32_t generation __attribute__((aligned(64)));	/* the newest one; 0: this CPU is off */
	uint32_t changes;		/* grows when it, or an event that matters for what is held, is switched */
	bool enabled;			/* chosen by `cpu N on`, also while profiling is off */
	struct ktop_books books[KTOP_STREAMS];	/* those of KTOP_META are on CPU 0 alone */
	uint64_t span[KTOP_CLASSES];	/* clock ticks in which this class was on */
	uint64_t until[KTOP_CLASSES];	/* head of the ring when this drain began */
};

struct ktop {
	/* written by the drainer, read at each tick and trace point */
	uint32_t trace[KTOP_TRACE_WORDS];	/* trace events that are on; bit i of word w: event 32 * w + i */
	uint32_t careful[KTOP_TRACE_WORDS];	/* those of `stacks` and of `filtered` */
	uint32_t stacks[KTOP_TRACE_WORDS];	/* those that carry the kernel's stack, */
	uint32_t stack_frames;		/* with so many frames at most; 0: none carries a stack */
	uint32_t holds;			/* those of the events 32 to 63 that are held (struct ktop_held) */
	struct ktop_filter filters[KTOP_FILTERS];
	uint64_t left_out_requests[KTOP_FILTER_REQUESTS];	/* written by trace points; 0: none */
	uint32_t filtered;		/* those of the events 32 to 63 for which ktop_filter_passes() is to be asked */
	uint32_t switches_untold;	/* 1: switches are on for what is held alone, and are not written */
	uint32_t sampler;		/* the one that is on; KTOP_NONE also while one follows another */
	uint32_t generation;		/* the newest one */
	uint32_t wanted;		/* the sampler that was asked for, which `sampler` follows; KTOP_NONE: off */
	uint32_t running;		/* 1: profiling is on: what is chosen is sampled, traced, or both */
	uint64_t period;		/* clock ticks between two samples of a CPU */

	/* fixed after init */
	uint32_t cpus;
	uint64_t hz;			/* clock ticks a second; 10^9 if the kernel does not know */
	struct ktop_cpu *cpu;
	struct ktop_transport *transport;
	ktop_counters *counters;	/* NULL: NMIs come from a CPU that is set aside */
	uint32_t untraced;		/* as in ktop_facts */
	struct ktop_wire_black_box *box;	/* NULL: there is none. ktop_died() writes to it */
	uint32_t dead;			/* 1: ktop_died() was called, on any CPU: nothing is switched on */

	/* written by the CPU set aside */
	struct ktop_grid pacer __attribute__((aligned(64)));	/* when NMIs are due */
	uint32_t pacer_started;		/* the generation that `pacer` was started for */
	uint32_t unsent;		/* 1: an NMI could not be sent; the drainer sets it back to 0 */

	/* their headers say who writes what */
	struct ktop_keys keys;
	struct ktop_control control;
	struct ktop_meta meta;

	/* written by the drainer */
	uint32_t connections;		/* of the transport, when the last host was greeted */
	uint32_t cursor;		/* the ring whose turn is next: CPU * KTOP_CLASSES + class */
	uint64_t accounted;		/* clock of the last drain; spans are counted up to there */
	bool stalled;			/* the last drain got no buffer: the host does not read */
	bool tracing;			/* a bit of `trace` is set */
};

/* The CPU that is set aside when the sampler is NMI: the last one; none where CPUs have counters of their own. */
static inline uint32_t ktop_sampler_cpu(const struct ktop *ktop)
{
	return ktop->counters ? KTOP_NO_CPU : ktop->cpus - 1;
}

/*
 * Clock ticks after which a silent ring gets a heartbeat: 50 ms. With a drain every 50 ms, or when ktop_drain_by()
 * asks for it, at most 100 ms pass between two packets of a ring.
 */
static inline uint64_t ktop_beat(const struct ktop *ktop)
{
	return ktop->hz / 20;
}

/* The CPU's ring of KTOP_SAMPLES or KTOP_TRACE. */
static inline struct ktop_ring *ktop_ring(struct ktop_cpu *cpu, enum ktop_stream stream)
{
	return &cpu->rings[stream - KTOP_SAMPLES];
}

/* The drainer. Of these events 32 to 63, with these stacks: those of pairs that are held. */
uint32_t ktop_trace_held(const struct ktop *ktop, uint32_t chosen, uint32_t stacks);

/*
 * The drainer. Which of the events 32 to 63 are to be on where these are chosen: where calls are held, so are switches.
 */
uint32_t ktop_trace_choose(struct ktop *ktop, uint32_t chosen);

/*
 * What a reader needs who finds the hook in the memory of a machine that answers no more: struct ktop_wire_black_box,
 * at the beginning of a page, and behind it the physical address of each page of the hook's memory. Its bytes, so that
 * it begins at a page wherever it is put; `rest`: of all other memory of the hook.
 */
uint64_t ktop_black_box_memory(uint64_t rest);
uint64_t ktop_black_box_names(const struct ktop_settings *settings);	/* bytes right before the rings, for names */

/*
 * Thread, in ktop_init(), which has laid out all else. `box`: that many bytes; `rings`: the first of them; the settings
 * are complete; `size`: of all memory. Without facts.physical there is no box.
 */
void ktop_black_box_init(struct ktop *ktop, const struct ktop_facts *facts, const struct ktop_settings *settings,
	void *box, const uint8_t *rings, uint64_t size);

/* The drainer. Some more of the names that the kernel tells one by one are put there. */
void ktop_black_box_keep(struct ktop *ktop);

/* The drainer. Is this class of events on, on this CPU? */
bool ktop_on(const struct ktop *ktop, uint32_t cpu, enum ktop_stream stream);

#endif
