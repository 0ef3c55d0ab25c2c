/* SPDX-License-Identifier: MIT */
/*
 * All samples of one boot, in slices of the guest's time; each slice counts (stack, who). A slice takes 1 s in the
 * last ten minutes, 10 s in the last two hours, 60 s in the last day. All that is older is one slice, the oldest one.
 * Each second of the last 160 s also keeps its finest slices, of 20 ms. These may take a 48th of the budget,
 * STORE_FINE_BYTES at most; the oldest that do not fit are given up. Short ranges may keep them (store_pin). If memory
 * is short, further slices join the oldest one early. Once that has half of all counts, it forgets threads and CPUs,
 * and keeps the counts by stack. When it has half of them again, it is dropped. A sixth of the budget is left to
 * others. There is a slice only where a sample came. Used by one thread.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "run.h"

#define STORE_SLICE_NS (20 * NS_PER_MS)	/* the width of the finest slices */

enum {
	STORE_COUNTS_MAX = 8 << 20,	/* in all slices: with more, a question about all of them would take too long */
	STORE_FINE_SLICES = 8000,	/* those of the last 160 s */
	STORE_FINE_BYTES = 6 << 20,
};

struct budget;
struct cpus;
struct store;

struct store_key {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	struct who who;
};

struct slice {
	uint64_t begin, end;		/* ns of guest time */
	uint64_t version;		/* of the last event in it; see store_version */
	struct run *const *runs;	/* the same key may be in several */
	size_t run_count;
	uint64_t period;		/* the CPU time in ns that a weight of 1 stands for; 0: not known */
	const struct cpus *cpus;	/* these also count the samples that found no room */
};

struct store *store_new(struct budget *budget, uint64_t counts_max);

void store_free(struct store *store);

/*
 * A late event goes into its own slice; an event later than "now" moves "now". Times are ns, INT64_MAX at
 * most. An event with a damaged CPU or mode is given up.
 */
void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight);
void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks);

/*
 * Sets the sampling period: from now on, a weight of 1 stands for so many ns of a CPU. The first one also counts for
 * what came before it.
 */
void store_period(struct store *store, uint64_t ns);

/* Moves "now" forward; an earlier time changes nothing. */
void store_advance(struct store *store, uint64_t now);
uint64_t store_now(const struct store *store);
uint64_t store_version(const struct store *store);	/* grows with every change of what is counted */

/* Puts all that has come into slices. To be called before slices are read. */
void store_settle(struct store *store);

/*
 * The slices that a range of time stands for, in order. A slice belongs to the range in which its middle lies. So
 * adjacent ranges share no slice and miss none, and a range keeps its place when slices become coarser. `to` =
 * UINT64_MAX: up to the last slice. Of a second that is not over, or not wholly in the range, the finest slices are
 * read, if it has them. What is read is valid until the next call that changes the store. Some 3,500 slices at most;
 * the finest are some 11,000.
 */
struct slices {
	const struct store *store;
	uint64_t from, to;
	bool finest;			/* of each second the finest that it has are wanted */
	size_t at;			/* the next part, or second */
	uint32_t fine;			/* the next of the finest slices of that second */
};

struct slices slices_in(const struct store *store, uint64_t from, uint64_t to, bool finest);
bool slices_next(struct slices *slices, struct slice *slice);		/* false: there is no further one */

/* Where the slice begins that has this time; `time` itself, if none has. */
uint64_t slice_begin(const struct store *store, uint64_t time);

uint64_t store_oldest(const struct store *store);	/* ns: where the oldest slice begins; UINT64_MAX: none */

/* Who the numbers in the counts are. To be asked for after store_settle, which may change numbers and table. */
struct who_table *store_whos(const struct store *store);

uint64_t store_fine_from(const struct store *store);	/* from this time on, slices are the finest */

/*
 * Short ranges whose slices are the finest, and stay so: then what was asked for once stays exact. The newest ones do,
 * until they join the oldest slice. Settles the store.
 */
enum { STORE_PINS = 4 };
#define STORE_PIN_MOST NS_PER_SECOND	/* the longest one */

/*
 * Moves the ends of the range to where the finest slices may begin. False: it is too long, or its slices are coarser
 * and it is none of the newest; then the ends are as they were.
 */
bool store_pin(struct store *store, uint64_t *from, uint64_t *to);

/*
 * The weights by mode of what begins at number * STORE_SLICE_NS and is as long, even if its slice is longer by now. All
 * are 0 if that is more than 160 s ago.
 */
struct fine_sum {
	uint64_t number;
	uint64_t mode[MODES];
};

struct fine_sum store_fine_sum(const struct store *store, uint64_t number);

uint64_t store_given_up(const struct store *store);	/* weight that was dropped: no room, or damaged */
uint64_t store_forgotten(const struct store *store);	/* weight that is kept, but not who ran it */

/* ---- weights by CPU ---- */

/*
 * The weights of one slice, for each CPU. Kept in blocks, so that a high CPU number costs little more: the
 * guest chooses it.
 */

struct cpu_sums {
	uint64_t mode[MODES];	/* weight of the samples in each mode */
	uint64_t missed;	/* periods in which the CPU was not run */
};

enum { CPUS_BLOCK = 4 };		/* CPUs */

struct cpus {
	uint32_t count;			/* CPUs beyond it have nothing */
	uint32_t block_count;
	struct cpu_sums **blocks;	/* NULL: nothing in it */
};

/* NULL: nothing was sampled there. */
static inline struct cpu_sums *cpus_get(const struct cpus *cpus, uint32_t cpu)
{
	struct cpu_sums *block = cpu < cpus->count ? cpus->blocks[cpu / CPUS_BLOCK] : NULL;

	return block ? &block[cpu % CPUS_BLOCK] : NULL;
}

#endif
