/* SPDX-License-Identifier: MIT */
/* Unix sockets: addresses, connecting, and passing descriptors. */
#ifndef UNIX_SOCKET_H
#define UNIX_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

struct sockaddr_un;

bool unix_socket_address(struct sockaddr_un *address, const char *path);	/* false: the path is too long */

/*
 * Connects, and returns a descriptor that does not block. Never waits. -1 with errno; EAGAIN: the
 * listener's queue is full; ENAMETOOLONG: the path is too long for an address.
 */
int unix_socket_connect(const char *path);

/* The same, but waits at most wait_ms, 1 or more, for a place in the queue; then EAGAIN. */
int unix_socket_connect_within(const char *path, int wait_ms);

/* Sends all of it at once; false: it could not. Passes a descriptor along, unless that is -1. */
bool unix_socket_send(int fd, const void *bytes, size_t size, int passed);

#endif
