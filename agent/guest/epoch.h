/* SPDX-License-Identifier: MIT */
/*
 * One boot of the guest: what it told of itself, and what was sampled. Addresses, threads and times
 * of one boot are never mixed with those of another. Pictures refer to its texts and hold it by a
 * count, so that it outlives them; everything else belongs to the ingest thread.
 */
#ifndef EPOCH_H
#define EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/query.h"
#include "agent/wire/event.h"

struct guest_events;

enum { EPOCH_KEYS = 16, EPOCH_LOSSES = 16 };

struct epoch_loss {				/* when a count was last seen to grow; guest ns */
	uint64_t count, at;
};

struct epoch_cpu {
	struct cpu_status told[STREAMS];	/* the newest; size 0: not told yet */
	uint64_t lost_before[STREAMS];		/* what the first one said */
};

struct epoch {
	atomic_uint holders;
	uint8_t boot_id[16];
	struct query_inputs inputs;
	struct query *query;

	/* what the guest told, printable */
	bool known;				/* guest facts have come */
	char kernel[64], version[64], arch[16];
	uint32_t cpu_count;
	uint64_t clock_hz;			/* ticks per second, 1 GHz when unknown */
	bool status_known;
	struct status status;			/* its note is `note` */
	uint32_t sampler;			/* CPU set aside to pace the others; EVENT_NONE */
	char note[256];
	bool tables_told;			/* by a hook that tells of each; else status.meta_lost */
	struct table_fill tables[TABLES];	/* all 0: large enough */
	uint8_t keys_on[EPOCH_KEYS], keys_off[EPOCH_KEYS];
	size_t keys_on_count, keys_off_count;

	uint64_t ticks;				/* newest guest clock seen */
	uint64_t taken, span;			/* samples, and ticks in which; of all CPUs sampled */
	uint64_t untimed;			/* weight that came before the facts: in no slice */
	uint32_t cpus_seen, cpu_room;		/* in cpus[] */
	uint64_t cpus_refused;			/* news of others, for which there was no memory */
	struct epoch_cpu *cpus;
	struct guest_events *events;
	bool told;				/* the guest knows the names of its kernel */
	char remark[256];			/* why no file gives them; who gives them sets it */
	bool starved;				/* memory was short for something that was told */
	uint64_t retry_at, retry_pause;		/* host ns */
	char refused[128];			/* why it was not taken, "" if it was */
	struct epoch_loss losses[EPOCH_LOSSES];	/* remarks.c's own, in its order */
	char *folders[2];			/* where programs are looked for, NULL-terminated */
};

/*
 * What an answer may keep of each CPU, and of the trend of each of the first CPUs, in bytes. The epoch
 * pays for it, so that no answer lacks memory; vitals.c holds itself to it.
 */
enum { EPOCH_PICTURE_CPU = 64, EPOCH_PICTURE_TREND = 1440, EPOCH_TRENDS = 128 };

/* Programs' files are looked for beside `image`, the kernel's, which may be NULL. */
struct epoch *epoch_new(const uint8_t *boot_id, const char *image, struct budget *budget);

struct epoch *epoch_hold(struct epoch *epoch);
void epoch_release(struct epoch *epoch);	/* any thread; goes with the last holder, never waits */

void epoch_introduce(struct epoch *epoch, const struct guest *guest);	/* what it will say of itself */
void epoch_events(struct epoch *epoch, const struct event *events, size_t count);	/* decode.h */
void epoch_ticks(struct epoch *epoch, uint64_t ticks);	/* a packet's end: moves "now" */

/*
 * What was given up for want of memory is made up for when there is some again, every now and then
 * at most. True: the guest has to tell all of itself again for that.
 */
bool epoch_retry(struct epoch *epoch, uint64_t now);	/* host ns */

uint64_t epoch_ns(const struct epoch *epoch, uint64_t ticks);
uint64_t epoch_now(const struct epoch *epoch);	/* guest ns */

#endif
