/* SPDX-License-Identifier: MIT */
/*
 * Walks through a guest's memory, along its lists. A list may be of any length and lead anywhere, so a walk is made in
 * turns: each spends a quota and then pauses, and the next one goes on at the same place. A turn does one piece of work
 * at least, and that piece is bounded.
 */
#ifndef WALK_H
#define WALK_H

#include <stdint.h>

struct memory_reader;
struct quota;

enum walk {				/* how a turn has ended */
	WALK_FAILED,			/* something cannot be read (yet), or makes no sense: the walk is over */
	WALK_PAUSED,			/* the next turn goes on */
	WALK_ENDED,			/* all was visited */
};

/* What it spends to tell the symbols (symbols.h) of a function, and of an object's mapping. */
enum { WALK_TELL_COST = 1024, WALK_MAP_COST = 16384 };

/* What is read, and how much of it in this turn. */
struct walked_memory {
	const struct memory_reader *reader;
	struct quota *quota;
};

/* How far a walk along a list has come. Starts zeroed. */
struct list_place {
	uint64_t next;			/* the address of the next one's links; 0: the list's head was not read */
	uint32_t passed;		/* how many were visited */
};

#endif
