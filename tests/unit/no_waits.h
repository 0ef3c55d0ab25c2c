/*
 * Calls of the C library that may wait, watched (the linker's --wrap puts these in their place): in
 * a thread that is under watch, each is a failure, by its name. One poll with a time in each watched
 * part is the caller's own.
 */
#ifndef NO_WAITS_H
#define NO_WAITS_H

void no_waits_begin(int polls);		/* from here on, in this thread; so many polls may wait */
void no_waits_end(void);
const char *no_waits_seen(void);	/* the first call that may have waited so far; NULL: none */

#endif
