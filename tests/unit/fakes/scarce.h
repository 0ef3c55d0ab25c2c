/* SPDX-License-Identifier: MIT */
/*
 * Memory that is refused once: linked into a program, each of its allocations has a number, that of
 * the C library's functions (whoever calls them) and that of what is taken from a budget alike.
 */
#ifndef SCARCE_H
#define SCARCE_H

#include <stdbool.h>
#include <stdint.h>

/* Allocations are counted from 0 from now on; this one is refused. SCARCE_NONE: none is. */
#define SCARCE_NONE UINT64_MAX
void scarce_refuse(uint64_t number);

/* They are not counted for a while, nor refused. */
void scarce_pause(bool pause);

/* No more are counted, nor refused. Returns how many there were. */
uint64_t scarce_end(void);

/* How many allocations there are in it; 0: it failed, in a process of its own. */
uint64_t scarce_count(void (*body)(void *context), void *context);

/*
 * Runs `body` in processes of its own, with allocation `from` refused, then `from` + `step`, until
 * one ends without that it was refused. Each has to return from `body` without a fault or a leak, or
 * to end with the words "no memory left". Stops at the first that does not, which is written to
 * standard error; when SCARCE_TRACE is set, all are, with the way to each allocation. Returns how
 * many there were; 0: one failed.
 */
struct scarce_runs {
	uint64_t from, step;
	void (*body)(void *context);
	void *context;
};
uint64_t scarce_run(const struct scarce_runs *runs);

#endif
