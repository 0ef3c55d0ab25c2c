/* SPDX-License-Identifier: MIT */
/*
 * Finds and reads the files of the programs that the guest names. They may be large, or on a disk that does
 * not answer: a few threads read them, and nobody waits for the threads. The result for each file, read or
 * refused, is kept and shared by the boots of a session.
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
struct sym_cfi;

enum {
	PROGRAMS_MAX = 64,		/* the most files that are read for one boot */
	PROGRAMS_AT_ONCE = 4,		/* read at the same time; the rest wait for their turn */
};

struct program_clue {			/* what to search for; copied */
	struct text name;		/* the guest's path */
	const char *shown;		/* its base name, printable */
	struct build_id build_id;
	const char *const *folders;	/* NULL-terminated, or NULL; searched by the base name */
	struct debug_folders debug;	/* its sysroot is searched by the whole name */
	int copy;			/* a copy of the file with holes: only that is read; taken over; -1: none */
};

/* All of it passes to the caller. The texts contain what the guest chose. */
struct program_found {
	struct image *image;		/* NULL: none that fits */
	struct sym_cfi *rules;		/* call frame information; NULL: none of that file, or no memory */
	char *note;			/* NULL: nothing to say */
	char *refused;			/* why a file was not read, told once a boot; NULL: it was read */
	bool starved;			/* memory was short; an image then lacks some of its symbols */
};

struct programs *programs_new(struct budget *budget);
struct programs *programs_hold(struct programs *programs);	/* one more holder */
void programs_release(struct programs *programs);		/* the last holder frees it */
uint64_t programs_boot(struct programs *programs);	/* a new number, for a new boot */

/* Begins a search. Neither this call nor those below wait. */
struct program_search *programs_search(struct programs *programs, uint64_t boot,
	const struct program_clue *clue);

/* False: not done yet. True: `*found` is the result, and the search is freed. */
bool programs_done(struct program_search *search, struct program_found *found);
void programs_leave(struct program_search *search);	/* gives the search up */

/* Has files that were refused or starved read again by the next search for them. */
void programs_retry(struct programs *programs);

#endif
