/* SPDX-License-Identifier: MIT */
/* Where a set is written to, and how. */
#ifndef SET_WRITING_H
#define SET_WRITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct set_writing {
	FILE *to;			/* the caller checks it for errors of its own */
	const char *title;		/* what was sampled, for formats that show it; "": nothing is known */
	bool flame;			/* of pictures: roots at the foot, flames upwards; else an icicle */
	const atomic_bool *stop;	/* once true: the caller gives up, and so does the format; NULL: never */
	atomic_uint *done;		/* thousandths that are written, for a bar of progress; NULL: nobody looks */
};

/*
 * Once for each of `of` sums or rows that are written, from 0 on: tells `done` now and then. True: write no more, since
 * `stop` was set or `to` has failed.
 */
bool set_writing_step(const struct set_writing *writing, uint64_t at, uint64_t of);

#endif
