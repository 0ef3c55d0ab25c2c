/* SPDX-License-Identifier: MIT */
/*
 * The guest's memory, as far as it was read through the source: pages that the guest's hook sent because a reader asked
 * for them. A reader that meets a page that is not there fails, and the page is asked for; once it has come, the reader
 * runs again. Pages are bounded in number, and those that nobody reads any more are forgotten. The bytes are the
 * guest's: any at all. Ingest thread.
 */
#ifndef GUEST_MEMORY_H
#define GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/memory_reader.h"
#include "commands.h"

struct budget;
struct guest_memory;
struct memory_bytes;

enum { GUEST_MEMORY_PAGE = 4096 };	/* bytes */

struct guest_memory *guest_memory_new(struct budget *budget);	/* borrows the budget */
void guest_memory_free(struct guest_memory *memory);

/* The memory as the guest's kernel sees it; by physical addresses. */
struct memory_reader guest_memory_virtual(struct guest_memory *memory);
struct memory_reader guest_memory_physical(struct guest_memory *memory);

/* Guest ns at which the page of this virtual address had come; 0: it has not, or that is not known. */
uint64_t guest_memory_time(struct guest_memory *memory, uint64_t address);

/* From now on, what was read so far is out of date: a reader gets pages that are asked for after this. */
void guest_memory_renew(struct guest_memory *memory);

/* A page has come. True: it may be what a reader waits for. */
bool guest_memory_take(struct guest_memory *memory, const struct memory_bytes *bytes);

/*
 * Writes the next control line to be sent, which asks for pages. False: none is to be sent now.
 * `samples`: how many have come, since a page is read when a sample is taken: by them it is known that one is late.
 */
bool guest_memory_ask(struct guest_memory *memory, uint64_t samples, char line[COMMANDS_LINE_MAX + 1]);

/*
 * The next page that is to be read in another way than by a control line: one of the kernel's half, by its virtual
 * address. Others are given up. False: none is.
 */
bool guest_memory_next(struct guest_memory *memory, uint64_t now, uint64_t *address);
void guest_memory_refused(struct guest_memory *memory);	/* the last line was: its pages are asked for again later */

/* Losses, so far. A page may count again when it is asked for anew. */
uint64_t guest_memory_unkept(const struct guest_memory *memory);	/* pages that had no room here */
uint64_t guest_memory_overdue(const struct guest_memory *memory);	/* pages that were asked for, and never came */

#endif
