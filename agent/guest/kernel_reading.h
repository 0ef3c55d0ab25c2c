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

#endif
