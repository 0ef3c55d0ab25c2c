/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "stand_in.h"

enum {
	PIECE = 65536,
	LOOK_MS = 45,			/* between two checks whether there is room again */
};

struct stand_in {
	int fd;
	int alarm;			/* a timer: wakes the thread if the user stays busy */
	bool alone;			/* there is no thread */

	pthread_mutex_t lock;		/* guards what follows, and reading from fd */
	bool left;			/* the thread ends, and frees everything */
	bool busy;			/* the user is */
	uint64_t user_at;		/* when the user last read the socket itself, or began or ended to be busy */
	char *kept;			/* STAND_IN_ROOM bytes; NULL: nothing is kept */
	size_t begin, end;		/* what is kept lies between these */
	bool closed;			/* the socket is; `why`: errno, or 0: by the other side */
	int why;
};

static void free_all(struct stand_in *stand_in)
{
	close(stand_in->fd);
	if (stand_in->alarm >= 0)
		close(stand_in->alarm);
	pthread_mutex_destroy(&stand_in->lock);
	free(stand_in->kept);
	free(stand_in);
}

static bool has_kept(const struct stand_in *stand_in)
{
	return stand_in->begin < stand_in->end;
}

/* ---- the thread; it holds the lock ---- */

static uint64_t turn_at(const struct stand_in *stand_in)
{
	return stand_in->user_at + (uint64_t)STAND_IN_MS * NS_PER_MS;
}

/* The user has not read for STAND_IN_MS, being busy, or not having taken what is kept. */
static bool is_turn(const struct stand_in *stand_in, uint64_t now)
{
	return (stand_in->busy || has_kept(stand_in)) && now >= turn_at(stand_in) &&
		!stand_in->closed && stand_in->end - stand_in->begin < STAND_IN_ROOM;
}

/* Until its turn may have come; -1: until the alarm goes off. */
static int wait_ms(const struct stand_in *stand_in, uint64_t now)
{
	uint64_t due = turn_at(stand_in);

	if (stand_in->busy && due > now)
		return (int)((due - now) / NS_PER_MS + 1);
	return stand_in->busy || has_kept(stand_in) ? LOOK_MS : -1;
}

/* Waits without the lock. An alarm that went off is heard once. */
static void await_turn(struct stand_in *stand_in, uint64_t now)
{
	struct pollfd ready = { .fd = stand_in->alarm, .events = POLLIN };
	int wait = wait_ms(stand_in, now);
	uint64_t times;

	pthread_mutex_unlock(&stand_in->lock);
	if (poll(&ready, 1, wait) > 0 && read(stand_in->alarm, &times, sizeof(times)) < 0)
		times = 0;			/* it was set anew meanwhile */
	pthread_mutex_lock(&stand_in->lock);
}

/* Makes room behind what is kept. False: there is no memory. */
static bool have_room(struct stand_in *stand_in)
{
	if (!stand_in->kept)
		stand_in->kept = malloc(STAND_IN_ROOM);
	if (stand_in->end == STAND_IN_ROOM) {
		stand_in->end -= stand_in->begin;
		memmove(stand_in->kept, stand_in->kept + stand_in->begin, stand_in->end);
		stand_in->begin = 0;
	}
	return stand_in->kept;
}

/* Reads a piece. False: there is nothing more now. */
static bool keep(struct stand_in *stand_in)
{
	size_t room = STAND_IN_ROOM - stand_in->end;
	ssize_t got = recv(stand_in->fd, stand_in->kept + stand_in->end, room < PIECE ? room : PIECE,
		MSG_DONTWAIT);

	if (got > 0)
		stand_in->end += (size_t)got;
	stand_in->closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
	stand_in->why = got < 0 ? errno : 0;
	return got > 0;
}

/* Waits for more bytes, without the lock. */
static void await_more(struct stand_in *stand_in)
{
	struct pollfd ready = { .fd = stand_in->fd, .events = POLLIN };

	pthread_mutex_unlock(&stand_in->lock);
	poll(&ready, 1, STAND_IN_MS);
	pthread_mutex_lock(&stand_in->lock);
}

static void *run(void *context)
{
	struct stand_in *stand_in = context;
	sigset_t signals;

	sigfillset(&signals);			/* signals go to the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_mutex_lock(&stand_in->lock);
	while (!stand_in->left) {
		uint64_t now = util_now();

		if (!is_turn(stand_in, now) || !have_room(stand_in))
			await_turn(stand_in, now);
		else if (!keep(stand_in))
			await_more(stand_in);
	}
	pthread_mutex_unlock(&stand_in->lock);
	free_all(stand_in);
	return NULL;
}

/* ---- the user ---- */

/* The alarm goes off at this time; 0: not at all. */
static void set_alarm(const struct stand_in *stand_in, uint64_t time)
{
	const struct itimerspec at = {
		.it_value = { (time_t)(time / NS_PER_SECOND), (long)(time % NS_PER_SECOND) },
	};

	timerfd_settime(stand_in->alarm, TFD_TIMER_ABSTIME, &at, NULL);
}

struct stand_in *stand_in_new(int fd)
{
	struct stand_in *stand_in = util_alloc(sizeof(*stand_in));
	pthread_t thread;

	stand_in->fd = fd;
	stand_in->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	pthread_mutex_init(&stand_in->lock, NULL);
	stand_in->alone = stand_in->alarm < 0 || pthread_create(&thread, NULL, run, stand_in) != 0;
	if (!stand_in->alone)
		pthread_detach(thread);
	return stand_in;
}

void stand_in_leave(struct stand_in *stand_in)
{
	if (stand_in->alone) {
		free_all(stand_in);
		return;
	}
	pthread_mutex_lock(&stand_in->lock);
	stand_in->left = true;
	shutdown(stand_in->fd, SHUT_RDWR);	/* ends the wait for more bytes; the other side sees it, too */
	set_alarm(stand_in, 1);
	pthread_mutex_unlock(&stand_in->lock);
}

void stand_in_busy(struct stand_in *stand_in, bool busy)
{
	pthread_mutex_lock(&stand_in->lock);
	stand_in->busy = busy;
	if (!has_kept(stand_in))
		stand_in->user_at = util_now();
	set_alarm(stand_in, busy ? turn_at(stand_in) : 0);
	pthread_mutex_unlock(&stand_in->lock);
}

bool stand_in_has(struct stand_in *stand_in)
{
	bool has;

	pthread_mutex_lock(&stand_in->lock);
	has = has_kept(stand_in) || stand_in->closed;
	pthread_mutex_unlock(&stand_in->lock);
	return has;
}

static size_t take_kept(struct stand_in *stand_in, void *to, size_t size)
{
	size_t kept = stand_in->end - stand_in->begin, got = kept < size ? kept : size;

	memcpy(to, stand_in->kept + stand_in->begin, got);
	stand_in->begin += got;
	if (stand_in->begin == stand_in->end) {
		free(stand_in->kept);
		stand_in->kept = NULL;
		stand_in->begin = stand_in->end = 0;
	}
	return got;
}

ssize_t stand_in_read(struct stand_in *stand_in, void *to, size_t size)
{
	ssize_t got;

	pthread_mutex_lock(&stand_in->lock);
	if (has_kept(stand_in)) {
		got = (ssize_t)take_kept(stand_in, to, size);
	} else if (stand_in->closed) {
		got = stand_in->why ? -1 : 0;
		errno = stand_in->why;
	} else {
		got = recv(stand_in->fd, to, size, MSG_DONTWAIT);
		stand_in->user_at = util_now();
	}
	pthread_mutex_unlock(&stand_in->lock);
	return got;
}
