/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "unix_socket.h"

bool unix_socket_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return false;
	memcpy(address->sun_path, path, strlen(path));
	return true;
}

/* unix(7): connect() on a blocking socket waits for the listener for as long as SO_SNDTIMEO says. */
static int connect_as(const char *path, int flags, int wait_ms)
{
	struct timeval wait = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };
	struct sockaddr_un address;
	int fd, why;

	if (!unix_socket_address(&address, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == 0 &&
			connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

int unix_socket_connect(const char *path)
{
	return connect_as(path, SOCK_NONBLOCK, 0);
}

int unix_socket_connect_within(const char *path, int wait_ms)
{
	return connect_as(path, 0, wait_ms);
}

bool unix_socket_send(int fd, const void *bytes, size_t size, int passed)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}
