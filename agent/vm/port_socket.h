/* SPDX-License-Identifier: MIT */
/*
 * A byte stream to and from the guest's port: a unix socket that does not block. One thread owns it and makes all
 * calls. A thread of its own reads it all the time, so that the sender is not held up, however long the owner is busy:
 * it keeps the bytes in order until the owner takes them, PORT_SOCKET_ROOM at most; the rest stays in the socket. Where
 * few come, and often, it rests for PORT_SOCKET_REST_MS between two reads, so that it wakes for many bytes at a time;
 * where more come, for a part of that.
 */
#ifndef PORT_SOCKET_H
#define PORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PORT_SOCKET_ROOM = 8 << 20, PORT_SOCKET_REST_MS = 20 };

struct port_socket;

/* Connects. NULL with `error` set, which the caller frees; `taken`: since as many clients wait as it has room for. */
struct port_socket *port_socket_connect(const char *path, bool *taken, char **error);
struct port_socket *port_socket_from_fd(int fd);	/* takes over the descriptor; for a port that was plugged in */
void port_socket_free(struct port_socket *socket);

/*
 * For poll(). port_socket_wakeup: readable when bytes wait that were kept: many, or from `at` on (util_now; 0: at once)
 * a few, too; or when the socket was closed. -1: the system gives no thread, and only the owner reads. port_socket_fd:
 * the socket itself; readable when there are bytes that nobody has read yet, which the owner may read at once.
 */
int port_socket_fd(const struct port_socket *socket);
int port_socket_wakeup(struct port_socket *socket, uint64_t at);

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
