/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for locks, of which it is known who waits for whom and for how long. The console shows each wait of
 * "reader", "journal" and "commit", in nanoseconds since the machine started:
 *
 *   locks: thread=NUMBER name=reader lock=inode from=N to=N
 *
 * "writer" holds `inode` for HOLD of each HOLD + REST, asleep; "reader" waits for it. "flusher" holds `disk`; "journal"
 * holds `log` and waits for `disk`; "commit" waits for `log`: a chain. "left" and "right" hold one each and wait for
 * that of the other, until one of them gives up: a circle, once in a second.
 */
#ifndef LOCKS_H
#define LOCKS_H

/* thread. Starts all threads. */
void locks_start(void);

#endif
