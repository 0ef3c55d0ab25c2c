#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "source.h"

enum { QUEUE_SIZE = 65536 };

struct source {
	int fd;
	bool gone;
	size_t queued;
	char queue[QUEUE_SIZE];
};

struct source *source_from_fd(int fd)
{
	struct source *source = util_alloc(sizeof(*source));
	int flags = fcntl(fd, F_GETFL);

	source->fd = fd;
	source->gone = flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0;
	return source;
}

static const char *advice(int why)
{
	switch (why) {
	case ENOENT:
	case ECONNREFUSED:
		return "is the virtual machine running?";
	case EACCES:
	case EPERM:
		return "run ktop as the user who runs the virtual machine";
	case EAGAIN:
		return "another program waits for it; end that one first";
	default:
		return "name the socket of the port org.ktop.0";
	}
}

struct source *source_connect(const char *path, char **error)
{
	int fd = unix_socket_connect(path);

	if (fd >= 0)
		return source_from_fd(fd);
	if (errno == ENAMETOOLONG)
		util_fail(error, "%s: not connected: the path is longer than %zu bytes; "
			"use a shorter one", path,
			sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	else
		util_fail(error, "%s: not connected: %s; %s", path, strerror(errno), advice(errno));
	return NULL;
}

void source_free(struct source *source)
{
	if (!source)
		return;
	close(source->fd);
	free(source);
}

int source_fd(const struct source *source)
{
	return source->fd;
}

static bool is_only_later(int why)
{
	return why == EAGAIN || why == EINTR;
}

ssize_t source_read(struct source *source, void *to, size_t size)
{
	ssize_t got;

	if (size == 0)
		return 0;
	got = read(source->fd, to, size);
	if (got > 0)
		return got;
	return got < 0 && is_only_later(errno) ? 0 : -1;
}

bool source_flush(struct source *source)
{
	size_t sent = 0;

	while (sent < source->queued && !source->gone) {
		ssize_t went = send(source->fd, source->queue + sent, source->queued - sent, MSG_NOSIGNAL);

		if (went > 0)
			sent += (size_t)went;
		else if (is_only_later(errno))
			break;
		else
			source->gone = true;
	}
	source->queued -= sent;
	memmove(source->queue, source->queue + sent, source->queued);
	return !source->gone;
}

bool source_send(struct source *source, const void *bytes, size_t size)
{
	if (!source_flush(source) || size > sizeof(source->queue) - source->queued)
		return false;
	if (size)
		memcpy(source->queue + source->queued, bytes, size);
	source->queued += size;
	return source_flush(source);
}

bool source_wants_write(const struct source *source)
{
	return source->queued > 0 && !source->gone;
}
