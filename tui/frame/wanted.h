/* SPDX-License-Identifier: MIT */
/*
 * The rows of a list whose details a view asks for: those on the screen, and half as many around them; or all, if they
 * are few. They stay the same while all rows on the screen are among them: rows change places all the time, and a
 * question that changes costs an answer at once.
 */
#ifndef WANTED_H
#define WANTED_H

#include <stddef.h>
#include <stdint.h>

struct list;
struct list_rows;

enum { WANTED_ROWS = 256 };

struct wanted {				/* starts as { 0 } */
	uint64_t keys[WANTED_ROWS];
	size_t count;
};

/* After list_update with the same rows. */
void wanted_update(struct wanted *wanted, const struct list *list, const struct list_rows *rows);

#endif
