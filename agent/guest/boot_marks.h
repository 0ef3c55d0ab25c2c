/* SPDX-License-Identifier: MIT */
/*
 * When a boot has come to its phases: firmware, boot loader, kernel, programs. They are told by where samples were
 * taken (objects.h, and the kernel's symbols), so they are as exact as the samples are close to each other.
 * Nothing is told of a boot that was not sampled from its beginning. One owner thread.
 */
#ifndef BOOT_MARKS_H
#define BOOT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct symbols;

enum boot_phase { PHASE_FIRMWARE, PHASE_LOADER, PHASE_KERNEL, PHASE_USER, PHASES };

enum { BOOT_MARKS_LATE_S = 5 };	/* a boot whose first sample comes later was not sampled from its beginning */
enum { BOOT_PLACES = 256 };		/* only the first so many places count; by then the kernel has begun */

/*
 * Which phase a piece of memory belongs to may be known only later, once the kernel's file is read. So the time of the
 * first sample in each place is kept, a place being 64 KiB of addresses. Starts as all 0.
 */
struct boot_marks {
	uint32_t count;
	bool any, user_known;
	bool firmware, kernel;		/* a sample was in firmware or a loader; in the kernel's own code */
	uint64_t first, user;		/* ticks: of the first sample of all, and of the first one of a program */
	struct { uint64_t address, ticks; } places[BOOT_PLACES];
};

/* Takes a sample as raw_samples.h makes it. */
void boot_marks_saw(struct boot_marks *marks, const struct sample *sample, uint64_t ticks);

/*
 * Tells the symbols which code of no file ran before the kernel: firmware that has moved to memory, or a loader. That
 * may be sampled before any firmware that is known by its place. Takes the sample as above.
 */
void boot_marks_tell_early(struct boot_marks *marks, const struct sample *sample, struct symbols *symbols);

struct boot_times {
	bool known[PHASES];		/* all false: this is no boot from its beginning */
	uint64_t at[PHASES];		/* when it began; ticks, or ns: as the caller of the function says */
};

struct boot_times boot_marks_tell(const struct boot_marks *marks, struct symbols *symbols);	/* in ticks */

extern const char *const boot_phase_words[PHASES];

/* Writes "firmware 0.00 s, kernel 1.20 s": when each began, in ns; "" if nothing is known. Returns `text`. */
const char *boot_times_text(const struct boot_times *times, char *text, size_t size);

#endif
