/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket.h"

enum { QUEUE = 1 << 20 };		/* bytes that wait in the kernel for the host */

_Static_assert(sizeof(((struct plugin_socket *)NULL)->path) == sizeof(((struct sockaddr_un *)NULL)->sun_path), "");

static struct plugin_socket *socket_of(struct ktop_transport *transport)
{
	return (struct plugin_socket *)transport;
}

/* ---- the host ---- */

static void drop_client(struct plugin_socket *self)
{
	close(self->client);
	self->client = -1;
	self->size = self->sent = 0;
}

static bool is_only_later(int why)
{
	return why == EAGAIN || why == EINTR;
}

static bool connected(struct ktop_transport *transport, uint32_t *connections)
{
	struct plugin_socket *self = socket_of(transport);
	int queue = QUEUE;

	if (self->client < 0) {
		self->client = accept4(self->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		self->connections += self->client >= 0;
		self->size = self->sent = 0;
		if (self->client >= 0)
			setsockopt(self->client, SOL_SOCKET, SO_SNDBUF, &queue, sizeof(queue));
	}
	*connections = self->connections;
	return self->client >= 0;
}

/* True: all of it has gone. */
static bool flush(struct plugin_socket *self)
{
	while (self->client >= 0 && self->sent < self->size) {
		ssize_t went = send(self->client, self->buffer + self->sent, self->size - self->sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (went > 0)
			self->sent += (uint32_t)went;
		else if (went < 0 && is_only_later(errno))
			break;
		else
			drop_client(self);
	}
	return self->client >= 0 && self->sent == self->size;
}

static void *buffer(struct ktop_transport *transport)
{
	struct plugin_socket *self = socket_of(transport);

	return flush(self) ? self->buffer : NULL;
}

static void send_buffer(struct ktop_transport *transport, uint32_t size)
{
	struct plugin_socket *self = socket_of(transport);

	self->size = size;
	self->sent = 0;
	flush(self);
}

static uint32_t receive(struct ktop_transport *transport, void *to, uint32_t size)
{
	struct plugin_socket *self = socket_of(transport);
	ssize_t got = self->client < 0 ? 0 : recv(self->client, to, size, MSG_DONTWAIT);

	if (got > 0)
		return (uint32_t)got;
	if (self->client >= 0 && (got == 0 || !is_only_later(errno)))
		drop_client(self);
	return 0;
}

struct pollfd plugin_socket_wait(const struct plugin_socket *self)
{
	if (self->client < 0)
		return (struct pollfd) { .fd = self->listener, .events = POLLIN };
	return (struct pollfd) {
		.fd = self->client, .events = (short)(POLLIN | (self->sent < self->size ? POLLOUT : 0)),
	};
}

/* ---- its place ---- */

static bool is_socket(const char *path, struct stat *is)
{
	return lstat(path, is) == 0 && S_ISSOCK(is->st_mode);
}

/* A socket on which nobody listens. Connecting to what is no socket fails in the same way. */
static bool is_dead(const struct sockaddr_un *address)
{
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat is;
	bool dead = is_socket(address->sun_path, &is) && probe >= 0 &&
		connect(probe, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		errno == ECONNREFUSED;

	if (probe >= 0)
		close(probe);
	return dead;
}

/* Nobody but its user may connect: what is sent are addresses and memory of the guest. */
static bool listen_at(struct plugin_socket *self, const struct sockaddr_un *address)
{
	int listener = self->listener;
	bool bound = bind(listener, (const struct sockaddr *)address, sizeof(*address)) == 0;

	if (!bound && errno == EADDRINUSE && is_dead(address)) {
		unlink(address->sun_path);
		bound = bind(listener, (const struct sockaddr *)address, sizeof(*address)) == 0;
	}
	return bound && is_socket(address->sun_path, &self->is) &&
		chmod(address->sun_path, S_IRUSR | S_IWUSR) == 0 && listen(listener, 1) == 0;
}

void plugin_socket_serve(struct plugin_socket *self, int client)
{
	*self = (struct plugin_socket) {
		.transport = { .connected = connected, .buffer = buffer, .send = send_buffer, .receive = receive },
		.listener = -1, .client = client, .connections = client >= 0,
	};
}

const char *plugin_socket_listen(struct plugin_socket *self, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool there;
	int why;

	plugin_socket_serve(self, -1);
	if (strlen(path) >= sizeof(self->path))
		return "the path is too long";
	strcpy(self->path, path);
	strcpy(address.sun_path, path);
	self->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (self->listener >= 0 && listen_at(self, &address))
		return NULL;
	why = errno;
	there = why == EADDRINUSE && !is_socket(path, &self->is);
	if (self->listener >= 0)
		close(self->listener);
	self->listener = -1;
	return there ? "there is something that is no socket" : strerror(why);
}

void plugin_socket_remove(struct plugin_socket *self)
{
	struct stat is;

	if (self->listener >= 0 && is_socket(self->path, &is) && is.st_dev == self->is.st_dev &&
			is.st_ino == self->is.st_ino)
		unlink(self->path);
	self->listener = -1;
}
