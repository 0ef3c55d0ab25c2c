/* SPDX-License-Identifier: MIT */
/* Addresses of unix sockets, and connecting to one. */
#ifndef UNIX_SOCKET_H
#define UNIX_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

struct sockaddr_un;

bool unix_socket_address(struct sockaddr_un *address, const char *path);	/* false: too long */

/*
 * A descriptor that does not block. Never waits: -1 with errno; EAGAIN: somebody listens there, and
 * takes nobody now; ENAMETOOLONG: the path is longer than an address.
 */
int unix_socket_connect(const char *path);

/* The same, but waits until it is taken, so long at most: then EAGAIN. */
int unix_socket_connect_within(const char *path, int wait_ms);

/* All of it at once, or false; with it a descriptor for the other side, if that is not -1. */
bool unix_socket_send(int fd, const void *bytes, size_t size, int passed);

#endif
