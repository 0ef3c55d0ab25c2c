/* SPDX-License-Identifier: MIT */
/*
 * Which trace events are left out in the guest: those of other threads, processes or numbers than was asked for, and
 * those that took less time. A filter is of a group of events, whose rows are in filter.c. What is left out is counted.
 */
#ifndef KTOP_FILTER_H
#define KTOP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct ktop;
struct ktop_str;

enum {
	KTOP_PAIRS = 3,			/* the first groups: their events may be held (struct ktop_held) */
	KTOP_FILTERS = KTOP_PAIRS + 8,
	KTOP_FILTER_NUMBERS = 512,	/* those that can be chosen are below this */
	KTOP_FILTER_REQUESTS = 64,	/* of block requests that are left out and not done, so many are kept in mind */
};

/* Written by the drainer, read by trace points, word by word. All 0: nothing is left out. */
struct ktop_filter {
	uint64_t least;			/* clock ticks: what is held and takes less is left out */
	uint32_t by;			/* what decides, too: KTOP_BY_PROCESS and so on */
	uint32_t process, thread;
	uint32_t numbers[KTOP_FILTER_NUMBERS / 32];	/* bit i: number i is told */
};
enum { KTOP_BY_PROCESS = 1, KTOP_BY_THREAD = 2, KTOP_BY_NUMBER = 4 };

/* The events 32 to 63 of a group. */
uint32_t ktop_filter_events(uint32_t group);

/* Irq off, in a trace point of these events. False: this one is of another thread, process or number. */
bool ktop_filter_passes(struct ktop *ktop, uint32_t id, const uint64_t *fields);

/* The fields of a switch that passes. What other threads do before and after is not told, so they have no number. */
enum { KTOP_FILTER_SWITCH = 2 };	/* words */
void ktop_filter_switch(const struct ktop *ktop, const uint64_t *fields, uint64_t told[KTOP_FILTER_SWITCH]);

bool ktop_filter_known(const char *option);	/* it is one of any group, or `stack` */

/*
 * The drainer. Takes one option of a control line into the group's filter: min, process, thread or number, with its
 * value, which may be cut. False: it makes no sense, or not for this group.
 */
bool ktop_filter_parse(const struct ktop *ktop, uint32_t group, const char *option, char *value,
	struct ktop_filter *filter);

/* The drainer. Sets all filters. True: they were others before. */
bool ktop_filter_set(struct ktop *ktop, const struct ktop_filter filters[KTOP_FILTERS]);

/* The drainer. Adds all filters: "syscall:min=1ms,process=7 lock:thread=3". */
void ktop_filter_all(const struct ktop *ktop, struct ktop_str *text);

#endif
