/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "port_socket.h"
#include "stand_in.h"

enum { QUEUE_SIZE = 65536 };

struct port_socket {
	int fd;				/* `reader` owns and closes it */
	struct stand_in *reader;
	bool gone;			/* sending has failed */
	size_t queued;			/* bytes that wait in `queue` */
	char queue[QUEUE_SIZE];
};

struct port_socket *port_socket_from_fd(int fd)
{
	struct port_socket *socket = util_alloc(sizeof(*socket));
	int flags = fcntl(fd, F_GETFL);

	socket->fd = fd;
	socket->gone = flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0;
	socket->reader = stand_in_new(fd);
	return socket;
}

static const char *advice(int why)
{
	switch (why) {
	case ENOENT:
	case ECONNREFUSED:
		return "is the VM running?";
	case EACCES:
	case EPERM:
		return "run ktop as the user who runs the VM";
	case EAGAIN:
		return "another program waits for it; end that one first";
	default:
		return "name the socket of the port org.ktop.0";
	}
}

struct port_socket *port_socket_connect(const char *path, char **error)
{
	int fd = unix_socket_connect(path);

	if (fd >= 0)
		return port_socket_from_fd(fd);
	if (errno == ENAMETOOLONG)
		util_fail(error, "%s: not connected: the path is longer than %zu bytes; "
			"use a shorter one", path,
			sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	else
		util_fail(error, "%s: not connected: %s; %s", path, strerror(errno), advice(errno));
	return NULL;
}

void port_socket_free(struct port_socket *socket)
{
	if (!socket)
		return;
	stand_in_leave(socket->reader);
	free(socket);
}

int port_socket_fd(const struct port_socket *socket)
{
	return socket->fd;
}

void port_socket_busy(struct port_socket *socket, bool busy)
{
	stand_in_busy(socket->reader, busy);
}

bool port_socket_has(struct port_socket *socket)
{
	return stand_in_has(socket->reader);
}

static bool is_only_later(int why)
{
	return why == EAGAIN || why == EINTR;
}

ssize_t port_socket_read(struct port_socket *socket, void *to, size_t size)
{
	ssize_t got;

	if (size == 0)
		return 0;
	got = stand_in_read(socket->reader, to, size);
	if (got > 0)
		return got;
	return got < 0 && is_only_later(errno) ? 0 : -1;
}

bool port_socket_flush(struct port_socket *socket)
{
	size_t sent = 0;

	while (sent < socket->queued && !socket->gone) {
		ssize_t went = send(socket->fd, socket->queue + sent, socket->queued - sent, MSG_NOSIGNAL);

		if (went > 0)
			sent += (size_t)went;
		else if (is_only_later(errno))
			break;
		else
			socket->gone = true;
	}
	socket->queued -= sent;
	memmove(socket->queue, socket->queue + sent, socket->queued);
	return !socket->gone;
}

bool port_socket_send(struct port_socket *socket, const void *bytes, size_t size)
{
	if (!port_socket_flush(socket) || size > sizeof(socket->queue) - socket->queued)
		return false;
	if (size)
		memcpy(socket->queue + socket->queued, bytes, size);
	socket->queued += size;
	return port_socket_flush(socket);
}

bool port_socket_is_gone(const struct port_socket *socket)
{
	return socket->gone;
}

bool port_socket_wants_write(const struct port_socket *socket)
{
	return socket->queued > 0 && !socket->gone;
}
