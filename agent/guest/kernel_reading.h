/* SPDX-License-Identifier: MIT */
/*
 * Reads the names and tables of a Linux kernel out of the guest's memory, if no file of it is known, as with a machine
 * that boots from its disk. It reads from the kernel's code upward, where the read-only data lies, until the
 * last table that the kernel tells of. What it finds is told to the symbols: the names first. Pages that are absent
 * count as zeros. The bytes are bounded in number, and hostile. Ingest thread.
 */
#ifndef KERNEL_READING_H
#define KERNEL_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"
#include "agent/base/memory_reader.h"
#include "commands.h"

struct budget;
struct guest_memory;
struct kernel_reading;
struct symbols;

/* Borrows all three. */
struct kernel_reading *kernel_reading_new(struct symbols *symbols, struct guest_memory *memory, struct budget *budget);
void kernel_reading_free(struct kernel_reading *reading);

/* A sample was taken in the kernel's mode at `pc`. */
void kernel_reading_saw(struct kernel_reading *reading, enum arch_id arch, uint64_t pc);

/*
 * Call it often. It takes some milliseconds at most. `live`: as for kernel_watch_step. True: the symbols know more now.
 * `now`: util_now.
 */
bool kernel_reading_step(struct kernel_reading *reading, bool live, uint64_t now);

/* Gives up what is under way. To be called when a file of the kernel was read. */
void kernel_reading_stop(struct kernel_reading *reading);

/* An address where the code of a Linux kernel, or of its modules, may be; no firmware is. */
bool kernel_reading_is_code(enum arch_id arch, uint64_t pc);
/* It reads, or has still to find out whether there is something to be read. */
bool kernel_reading_comes(const struct kernel_reading *reading);
bool kernel_reading_is_busy(const struct kernel_reading *reading);
/* Its last step ended in the middle of pages that have come: the next one goes on, even without samples. */
bool kernel_reading_is_paused(const struct kernel_reading *reading);
/* It has read enough for now, and searches: its next step needs no more pages. */
bool kernel_reading_searches(const struct kernel_reading *reading);

/* How far it is, or why there are no names. "": nothing is to be said, or not yet. */
const char *kernel_reading_remark(const struct kernel_reading *reading, char *text, size_t size);

/* ---- the guest's memory ---- */

/*
 * The guest's memory, as far as it was read through the source: pages that the guest's hook sent because a reader asked
 * for them. A reader that meets a page that is not there fails, and the page is asked for; once it has come, the reader
 * runs again. Pages are bounded in number, and those that nobody reads any more are forgotten. The bytes are the
 * guest's: any at all. Ingest thread.
 */

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
