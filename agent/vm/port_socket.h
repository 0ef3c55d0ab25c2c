/* SPDX-License-Identifier: MIT */
/* A byte stream to and from the guest's port: a unix socket, non-blocking. */
#ifndef PORT_SOCKET_H
#define PORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct port_socket;

/* Connects; NULL with `error` set (freed by the caller). */
struct port_socket *port_socket_connect(const char *path, char **error);
struct port_socket *port_socket_from_fd(int fd);	/* takes the descriptor; used by tests */
void port_socket_free(struct port_socket *socket);

int port_socket_fd(const struct port_socket *socket);

/*
 * Busy: with something else, so that for longer than a moment what comes is read beside, and kept until it
 * is asked for (stand_in.h); then there is something, whatever the descriptor says.
 */
void port_socket_busy(struct port_socket *socket, bool busy);
bool port_socket_has(struct port_socket *socket);

/* Bytes read; 0: nothing now; -1: the other side closed or failed. */
ssize_t port_socket_read(struct port_socket *socket, void *to, size_t size);

/*
 * Queues all of it, and sends what fits now. False when the queue (64 KiB) has no room, and nothing
 * is queued; or when the socket is gone.
 */
bool port_socket_send(struct port_socket *socket, const void *bytes, size_t size);
bool port_socket_wants_write(const struct port_socket *socket);
bool port_socket_flush(struct port_socket *socket);

#endif
