/* SPDX-License-Identifier: MIT */
/* The inside of struct ktop, for the hook's own files. */
#ifndef KTOP_HOOK_H
#define KTOP_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/grid.h"
#include "base/packet.h"
#include "base/ring.h"
#include "control.h"
#include "hotkeys.h"
#include "ktop.h"
#include "meta.h"
#include "trace.h"
#include "wire.h"

enum {
	KTOP_NONE = KTOP_SAMPLERS,	/* the sampler while off, or between two */
	KTOP_CLASSES = KTOP_STREAMS - 1,	/* rings of a CPU: KTOP_SAMPLES and KTOP_TRACE */
	KTOP_GAP = 8,			/* periods; a longer gap is charged to nobody */
	KTOP_RATE_MAX = 20000,
};

/*
 * Barrier pair 4: sampler.c sets the period, then releases each order and, where it
 * changes, the sampler; ktop_tick() and ktop_pace() acquire the sampler, then the order, and then
 * read the period for a new grid.
 */
struct ktop_cpu {
	/* each as ring.h has it */
	struct ktop_ring rings[KTOP_CLASSES];

	/* written by this CPU's sampler */
	struct ktop_grid grid;		/* by timer */
	uint32_t started;		/* the order that the grid follows */
	uint64_t missed;		/* periods of gaps not yet reported */
	uint64_t done;			/* rounds of `due` that are settled, by NMI */
	uint32_t answered;		/* NMIs */
	int64_t owed[2];		/* rounds not taken yet, by overflow: without and with a thread */

	/* written by the CPU set aside */
	uint64_t due __attribute__((aligned(64)));	/* rounds since boot */
	uint64_t begun;			/* of them, those before the last start */
	uint64_t asked;			/* `due` when the last NMI was sent */
	uint32_t sent;			/* NMIs */

	/* written by the drainer */
	uint32_t order __attribute__((aligned(64)));	/* 0: off; changes at each start */
	bool enabled;			/* a wish, also while all is off */
	struct ktop_books books[KTOP_STREAMS];	/* those of KTOP_META on CPU 0 alone */
	uint64_t span[KTOP_CLASSES];	/* clock ticks while on */
	uint64_t until[KTOP_CLASSES];	/* head of the ring when this call began */
};

struct ktop {
	/* written by the drainer, read at each tick and trace point */
	uint32_t trace[KTOP_TRACE_WORDS];	/* in force: bit i of word w: event 32 * w + i; see trace.h */
	uint32_t sampler;		/* in force: enum ktop_sampler or KTOP_NONE */
	uint32_t order;			/* counts starts */
	uint32_t wish;			/* the sampler to be: enum ktop_sampler or KTOP_NONE */
	uint64_t period;		/* clock ticks */

	/* fixed after init */
	uint32_t cpus;
	uint64_t hz;			/* of the clock; taken as 1 GHz when unknown */
	struct ktop_cpu *cpu;
	struct ktop_transport *transport;
	ktop_counters *counters;	/* NULL: one CPU is set aside for NMIs */

	/* written by the CPU set aside */
	struct ktop_grid pacer __attribute__((aligned(64)));
	uint32_t pacer_started;
	uint32_t unsent;		/* 1: an NMI could not be sent; the drainer takes it back */

	struct ktop_keys keys;
	struct ktop_control control;
	struct ktop_meta meta;

	/* written by the drainer */
	uint32_t connections;
	uint32_t cursor;		/* ring at which to go on: CPU * KTOP_CLASSES + class */
	uint64_t accounted;		/* clock of the last drain: up to there spans are counted */
	bool stalled;			/* it had no buffer: the host does not read */
	bool tracing;			/* `trace` has a bit that is set */
};

/* By NMI, the last CPU samples the others, where they have no counters of their own. */
static inline uint32_t ktop_sampler_cpu(const struct ktop *ktop)
{
	return ktop->counters ? KTOP_NO_CPU : ktop->cpus - 1;
}

/*
 * A drain gives each ring that was silent for so many clock ticks its heartbeat: with drains every
 * 50 ms, or as ktop_drain_by() wants them, 50 to 100 ms apart, at most 100 ms pass.
 */
static inline uint64_t ktop_beat(const struct ktop *ktop)
{
	return ktop->hz / 20;
}

static inline struct ktop_ring *ktop_ring(struct ktop_cpu *cpu, enum ktop_stream stream)
{
	return &cpu->rings[stream - KTOP_SAMPLES];
}

/* Is this class of events wanted on this CPU? The drainer. */
bool ktop_on(const struct ktop *ktop, uint32_t cpu, enum ktop_stream stream);

#endif
