/* SPDX-License-Identifier: MIT */
/* A byte stream to and from the guest's port: a unix socket that does not block. One owner thread. */
#ifndef PORT_SOCKET_H
#define PORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct port_socket;

/* Connects. NULL with `error` set, which the caller frees. */
struct port_socket *port_socket_connect(const char *path, char **error);
struct port_socket *port_socket_from_fd(int fd);	/* takes over the descriptor; for a port that was plugged in */
void port_socket_free(struct port_socket *socket);

int port_socket_fd(const struct port_socket *socket);	/* for poll() */

/*
 * port_socket_busy: the owner begins to do something else, or has done it. If it is busy for long, another
 * thread reads for it (stand_in.h), and keeps what came until port_socket_read. port_socket_has: something was
 * kept, or the socket was closed, even if the descriptor is not readable.
 */
void port_socket_busy(struct port_socket *socket, bool busy);
bool port_socket_has(struct port_socket *socket);

/* Returns how many bytes were read; 0: nothing now; -1: the other side has closed, or reading has failed. */
ssize_t port_socket_read(struct port_socket *socket, void *to, size_t size);

/*
 * Queues all of the bytes, and sends what fits now. False: the queue (64 KiB) has no room, and nothing is
 * queued; or the socket is gone.
 */
bool port_socket_send(struct port_socket *socket, const void *bytes, size_t size);
bool port_socket_is_gone(const struct port_socket *socket);	/* it was found so by sending */
bool port_socket_wants_write(const struct port_socket *socket);	/* bytes are queued: poll for POLLOUT, then flush */
bool port_socket_flush(struct port_socket *socket);	/* sends what fits now; false: the socket is gone */

#endif
