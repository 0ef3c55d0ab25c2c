/* SPDX-License-Identifier: MIT */
/*
 * Files of the programs that the guest names, found and read beside: they may be large, or on a disk
 * that does not answer. A few threads do it, and nobody waits for them. What was read, or refused,
 * is kept, and shared by the boots of a session.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/names/files/debug_file.h"
#include "agent/wire/event.h"

struct budget;
struct image;
struct programs;
struct program_search;

enum {
	PROGRAMS_MAX = 64,		/* files of one boot that are read */
	PROGRAMS_AT_ONCE = 4,		/* that are being read; the rest waits its turn */
};

struct program_clue {			/* copied */
	struct text name;		/* the guest's path */
	const char *shown;		/* its base, printable */
	struct build_id build_id;
	const char *const *folders;	/* NULL-terminated, or NULL: for the base of the name */
	struct debug_folders debug;	/* its sysroot: for the whole name */
};

/* All of it is the taker's; the texts hold what the guest chose. */
struct program_found {
	struct image *image;		/* NULL: none that fits */
	char *note;			/* NULL: nothing to say */
	char *refused;			/* why a file that is there was not read; NULL: it was, or was told */
	bool starved;			/* for want of memory; an image has not all of its symbols then */
};

struct programs *programs_new(struct budget *budget);
struct programs *programs_hold(struct programs *programs);
void programs_release(struct programs *programs);
uint64_t programs_boot(struct programs *programs);	/* a number of its own, for a boot */

/* Begins to search. Never waits, nor do those below. */
struct program_search *programs_search(struct programs *programs, uint64_t boot,
	const struct program_clue *clue);

/* False: not yet. True: here is what was found, and the search is gone. */
bool programs_done(struct program_search *search, struct program_found *found);
void programs_leave(struct program_search *search);

/* Files that were refused, or are starved, are read again when they are searched for. */
void programs_retry(struct programs *programs);

#endif
