/* SPDX-License-Identifier: MIT */
/*
 * Reads a socket for its user while that is busy with something else. When the user has not read for STAND_IN_MS, a
 * timer wakes a thread, which reads, and keeps the bytes in order until the user takes them. So the sender is not held
 * up, however long the user's work takes; and while that is short, the thread sleeps. At most STAND_IN_ROOM bytes are
 * kept; the rest stays in the socket. The user's thread makes all calls.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { STAND_IN_MS = 30, STAND_IN_ROOM = 8 << 20 };

struct stand_in;

/* For a non-blocking socket, which it takes over. If the system gives no thread, only the user reads. */
struct stand_in *stand_in_new(int fd);

/* Closes the socket, which the other side sees at once. Does not wait; the thread frees the rest. */
void stand_in_leave(struct stand_in *stand_in);

/* The user is busy from now on; or, as in the beginning, waits for the socket itself. */
void stand_in_busy(struct stand_in *stand_in, bool busy);

/* Like recv(), errno included, and never waits: gives first what was kept, then what the socket has. */
ssize_t stand_in_read(struct stand_in *stand_in, void *to, size_t size);
bool stand_in_has(struct stand_in *stand_in);	/* something was kept, or the socket was closed: do not wait for it */

#endif
