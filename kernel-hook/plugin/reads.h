/* SPDX-License-Identifier: MIT */
/*
 * Pages of the guest's memory that the host has asked for. The drainer asks for them and sends them. They are read on
 * the thread of a CPU that was called for a sample anyway, a few at a time, and so many in a second at most: a CPU
 * waits for nobody. Only RAM and ROM are read: a device would act on a read.
 */
#ifndef PLUGIN_READS_H
#define PLUGIN_READS_H

#include <stdbool.h>
#include <stdint.h>

/* The drainer. As struct ktop_memory (ktop.h) has them. */
bool reads_ask(bool physical, uint64_t address, uint32_t pages);
uint32_t reads_next(uint8_t *to);

/* The drainer, for a new boot: nothing is asked for any more. */
void reads_forget(void);

/* Any thread. True: pages wait to be read. */
bool reads_wanted(void);

/* Who can read a page: of RAM or ROM alone. */
struct reads_reader {
	/* Returns the bytes that were read: a whole page, or 0 if nothing is there, or READS_LATER. */
	uint32_t (*page)(void *context, bool physical, uint64_t address, uint8_t *to);
	void *context;
	uint32_t most;			/* pages that it reads in one call */
};

#define READS_LATER UINT32_MAX

/*
 * On a CPU's thread; `now` is in ns. `kernel`: the CPU's page tables map all of its kernel (ram_maps_kernel), so a page
 * that is not mapped does not exist. Else it is tried again later, as while a program runs. True: there is something to
 * send.
 */
bool reads_serve(const struct reads_reader *reader, bool kernel, uint64_t now);

/* The virtual addresses of the pages that reads_serve would read next, at most `most`. Returns how many. */
uint32_t reads_peek(uint64_t *addresses, uint32_t most);

#endif
