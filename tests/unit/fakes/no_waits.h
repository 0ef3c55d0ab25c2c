/* SPDX-License-Identifier: MIT */
/*
 * Calls of the C library that may wait, watched (the linker's --wrap puts these in their place): in
 * a thread that is under watch, each is a failure, by its name. One poll with a time in each watched
 * part is the caller's own. A path may be that of a disk which does not answer: who opens it waits.
 */
#ifndef NO_WAITS_H
#define NO_WAITS_H

#include <stdint.h>

void no_waits_begin(int polls);		/* from here on, in this thread; so many polls may wait */
void no_waits_end(void);

/* Until then, and no longer, polls may wait, as many as there are (util_now). */
void no_waits_until(uint64_t late);
const char *no_waits_seen(void);	/* the first call that may have waited so far; NULL: none */

/* From here on, until it is let go (NULL), whoever opens what begins with it waits; the text stays the caller's. */
void no_waits_hold(const char *path);
int no_waits_held(void);		/* so many wait */

#endif
