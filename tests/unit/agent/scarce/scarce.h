/* SPDX-License-Identifier: MIT */
/*
 * Memory that is refused once. In a program that is linked with this, each allocation has a number: those of the C
 * library's functions, whoever calls them, and those from a budget alike.
 */
#ifndef SCARCE_H
#define SCARCE_H

#include <stdbool.h>
#include <stdint.h>

/* Counts allocations from now on, from 0, and refuses number `refused`. SCARCE_NONE: refuses none. */
#define SCARCE_NONE UINT64_MAX
void scarce_refuse(uint64_t number);

/* Pauses: allocations are neither counted nor refused for a while. */
void scarce_pause(bool pause);

/* Ends counting and refusing. Returns how many allocations there were. */
uint64_t scarce_end(void);

/* Runs the body in a process of its own. Returns how many allocations it makes; 0: it failed. */
uint64_t scarce_count(void (*body)(void *context), void *context);

/*
 * Runs `body` again and again, each time in a process of its own: with allocation `from` refused, then `from` +
 * `step` and so on, until one ends before it comes to its number. Each has to return from `body` without a fault or
 * a leak, or to end with the words "no memory left". Stops at the first that does neither, and writes its output to
 * standard error. With SCARCE_TRACE set, writes the output of all, with the stack of each refused allocation.
 * Returns how many ran; 0: one failed.
 */
struct scarce_runs {
	uint64_t from, step;
	void (*body)(void *context);
	void *context;
};
uint64_t scarce_run(const struct scarce_runs *runs);

#endif
