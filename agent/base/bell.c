/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bell.h"
#include "util.h"

struct bell {
	int fd;				/* of an event counter (eventfd) */
};

struct bell *bell_new(void)
{
	struct bell *bell = util_alloc(sizeof(*bell));

	bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return bell;
}

void bell_free(struct bell *bell)
{
	if (!bell)
		return;
	if (bell->fd >= 0)
		close(bell->fd);
	free(bell);
}

void bell_ring(struct bell *bell)
{
	eventfd_write(bell->fd, 1);	/* fails only if the counter is full: then it is readable already */
}

void bell_quiet(struct bell *bell)
{
	eventfd_t count;

	eventfd_read(bell->fd, &count);
}

int bell_fd(const struct bell *bell)
{
	return bell->fd;
}
