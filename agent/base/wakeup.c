/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wakeup.h"
#include "util.h"

struct wakeup {
	int fd;				/* of an event counter (eventfd) */
};

struct wakeup *wakeup_new(void)
{
	struct wakeup *wakeup = util_alloc(sizeof(*wakeup));

	wakeup->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return wakeup;
}

void wakeup_free(struct wakeup *wakeup)
{
	if (!wakeup)
		return;
	if (wakeup->fd >= 0)
		close(wakeup->fd);
	free(wakeup);
}

void wakeup_send(struct wakeup *wakeup)
{
	eventfd_write(wakeup->fd, 1);	/* fails only if the counter is full: then it is readable already */
}

void wakeup_clear(struct wakeup *wakeup)
{
	eventfd_t count;

	eventfd_read(wakeup->fd, &count);
}

int wakeup_fd(const struct wakeup *wakeup)
{
	return wakeup->fd;
}
