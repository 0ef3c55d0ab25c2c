/* SPDX-License-Identifier: MIT */
/*
 * Reads a socket for a user who is busy with something else: from STAND_IN_MS on, what comes is kept, in
 * order, until he takes it. So whoever sends is read all the time, whatever takes long here. It has a thread
 * of its own, and STAND_IN_ROOM bytes at most: what is beyond stays in the socket. All calls are the user's.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { STAND_IN_MS = 30, STAND_IN_ROOM = 4 << 20 };

struct stand_in;

/* For a non-blocking socket. Where the system gives no thread, the user alone reads. */
struct stand_in *stand_in_new(int fd);

/* Closes the socket, at once for the other side; waits for nothing. */
void stand_in_leave(struct stand_in *stand_in);

/* He is busy from now on; or he waits for the socket himself, as in the beginning. */
void stand_in_busy(struct stand_in *stand_in, bool busy);

/* What was kept, and behind that what the socket has: as recv(). */
ssize_t stand_in_read(struct stand_in *stand_in, void *to, size_t size);
bool stand_in_has(struct stand_in *stand_in);	/* something was kept: the socket may have nothing more */

#endif
