/* SPDX-License-Identifier: MIT */
/* Files that are packed by gzip. What they unpack to is bounded by the budget: a small file may hold a huge one. */
#ifndef GUNZIP_H
#define GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

struct budget;

struct gunzip {				/* what was unpacked */
	char *bytes;			/* behind them is a zero */
	size_t size, room;		/* room: what is charged */
};

bool gunzip_fits(const char *bytes, size_t size);	/* by its first bytes */

/*
 * Unpacks all, also of several files one behind the other. False with `error` set: "why; what to do"; without it there
 * is no memory. Clear it in any case.
 */
bool gunzip_all(struct gunzip *to, const char *bytes, size_t size, struct budget *budget, char **error);
void gunzip_clear(struct gunzip *to, struct budget *budget);

#endif
