/* SPDX-License-Identifier: MIT */
/*
 * Watches the calls of the C library that may wait; the linker's --wrap puts the watch in their place. In a watched
 * thread each of them is a failure, reported by its name. A number of polls with a timeout is allowed. A path can be
 * made one of a disk that does not answer: whoever opens it waits.
 */
#ifndef NO_WAITS_H
#define NO_WAITS_H

#include <stdint.h>

void no_waits_begin(int polls);		/* watches this thread from here on; so many polls may wait */
void no_waits_end(void);

/* Until `late` (util_now), any number of polls may wait, but not beyond it. */
void no_waits_until(uint64_t late);
const char *no_waits_seen(void);	/* the first call so far that may have waited; NULL: none */

/* From here on, whoever opens a path that begins with this one waits, until NULL releases it. The text is borrowed. */
void no_waits_hold(const char *path);
int no_waits_held(void);		/* how many wait */

#endif
