/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

enum {
	BEGIN_S = 1000000,		/* the time at which a test begins */
	DAY_S = 1700000000,		/* and what time(2) says then */
	WAITERS = 64, TIMERS = 64,
	FIRST_MS = 1, LATER_MS = 20,	/* between two looks of the wait that ends first, and of any other */
	DEPTH = 8,			/* of processes that start processes */
};

struct waiter {
	pid_t thread;			/* 0: free */
	uint64_t until;
};

struct times {				/* in memory that is shared with all processes that are forked */
	pthread_mutex_t lock;		/* of the waiters */
	_Atomic uint64_t now;
	pid_t root;			/* the test's own process */
	struct waiter waiters[WAITERS];
};
struct timer {				/* an alarm: it goes off when the time has come */
	int fd;
	_Atomic uint64_t at;		/* 0: none */
};

static struct times *times;
static struct timer timers[TIMERS];
static _Thread_local uint64_t spent;
static int least_ms;			/* that a wait takes in truth */

__attribute__((constructor)) static void clock_begin(void)
{
	pthread_mutexattr_t shared;

	times = mmap(NULL, sizeof(*times), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (times == MAP_FAILED)
		abort();
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&times->lock, &shared);
	pthread_mutexattr_destroy(&shared);
	times->now = BEGIN_S * SECOND;
	times->root = getpid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void lock(void)
{
	if (pthread_mutex_lock(&times->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&times->lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&times->lock);
}

/* ---- who works ---- */

/* Reads what is in a file of /proc, without a call that a test may have wrapped. Returns its size. */
static size_t look(const char *path, char *text, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : syscall(SYS_read, fd, text, size - 1);

	if (fd >= 0)
		syscall(SYS_close, fd);
	got = got < 0 ? 0 : got;
	text[got] = '\0';
	return (size_t)got;
}

/* True: the thread runs, or waits for a processor or a disk. */
static bool is_at_work(pid_t process, pid_t thread)
{
	char path[64], text[256];
	const char *name_end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, thread);
	look(path, text, sizeof(text));
	name_end = strrchr(text, ')');
	return name_end && (name_end[2] == 'R' || name_end[2] == 'D');
}

static bool works(pid_t process, pid_t me, int depth);

static bool children_work(pid_t process, pid_t thread, pid_t me, int depth)
{
	char path[64], text[1024], *at = text, *end;
	bool work = false;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", process, thread);
	look(path, text, sizeof(text));
	for (long child; !work && (child = strtol(at, &end, 10)) > 0; at = end)
		work = works((pid_t)child, me, depth + 1);
	return work;
}

/* Does a thread of this process work, or of a process that it has started, besides the one that asks? */
static bool works(pid_t process, pid_t me, int depth)
{
	char path[64], list[4096];
	bool work = false;
	long got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	fd = depth > DEPTH ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && !work && (got = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0)
		for (long at = 0; at < got && !work;) {
			unsigned short size;
			pid_t thread = atoi(list + at + 19);	/* struct linux_dirent64: the name */

			memcpy(&size, list + at + 16, sizeof(size));
			at += size;
			work = thread && ((thread != me && is_at_work(process, thread)) ||
				children_work(process, thread, me, depth));
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return work;
}

/* ---- waiting ---- */

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before);

/* Has each alarm go off that is due. Returns when the first one of the others is; or `until`, if that is sooner. */
static uint64_t ring(uint64_t now, uint64_t until)
{
	const struct itimerspec at_once = { .it_value = { .tv_nsec = 1 } };

	for (int i = 0; i < TIMERS; i++) {
		uint64_t at = timers[i].at;

		if (at && at <= now && atomic_compare_exchange_strong(&timers[i].at, &at, 0))
			__real_timerfd_settime(timers[i].fd, 0, &at_once, NULL);
		else if (at && at < until)
			until = at;
	}
	return until;
}

void clock_pass(uint64_t ns)
{
	ring(atomic_fetch_add(&times->now, ns) + ns, 0);
}

void clock_spend(uint64_t ns)
{
	spent += ns;
}

void clock_beside(void)
{
	least_ms = FIRST_MS;
}

static struct waiter *enter(uint64_t until)
{
	struct waiter *free = NULL;

	lock();
	for (int i = 0; i < WAITERS && !free; i++)
		if (!times->waiters[i].thread)
			free = &times->waiters[i];
	if (!free)
		abort();
	*free = (struct waiter) { gettid(), until };
	unlock();
	return free;
}

/* No other wait ends before it. One of a process that was killed counts no more. */
static bool is_first(const struct waiter *waiter)
{
	bool first = true;

	lock();
	for (struct waiter *i = times->waiters; i < times->waiters + WAITERS; i++)
		if (i->thread && i->until < waiter->until) {
			char path[64], text[8];

			snprintf(path, sizeof(path), "/proc/%d/stat", i->thread);
			if (look(path, text, sizeof(text)))
				first = false;
			else
				i->thread = 0;
		}
	unlock();
	return first;
}

/*
 * Is nobody going to end the wait? Then it is as late as it was waited for. Who did not wait yet when this wait was
 * found to be the first may have begun a shorter one, and sleep by now: so that is asked again once nobody works.
 */
static bool pass_time(const struct waiter *waiter, struct pollfd *fds, nfds_t count)
{
	uint64_t now = times->now, until = ring(now, waiter->until);

	if (works(times->root, waiter->thread, 0) || __real_poll(fds, count, 0) != 0 || !is_first(waiter))
		return false;
	if (until > now && atomic_compare_exchange_strong(&times->now, &now, until))
		ring(until, 0);
	return true;
}

static int wait_until(struct pollfd *fds, nfds_t count, uint64_t until)
{
	struct waiter *waiter = enter(until);
	int ready, look_ms = least_ms;

	while ((ready = __real_poll(fds, count, look_ms)) == 0 && times->now < until)
		look_ms = !is_first(waiter) ? LATER_MS : !pass_time(waiter, fds, count) ? FIRST_MS : 0;
	lock();
	waiter->thread = 0;
	unlock();
	return ready;
}

/* ---- what stands in the place of the host's ---- */

__attribute__((weak)) void clock_watch(const char *call, int timeout_ms)
{
	(void)call;
	(void)timeout_ms;
}

uint64_t __wrap_util_now(void);
uint64_t __wrap_util_now(void)
{
	return times->now;
}

uint64_t __wrap_util_thread_time(void);
uint64_t __wrap_util_thread_time(void)
{
	return spent;
}

time_t __wrap_time(time_t *to);
time_t __wrap_time(time_t *to)
{
	time_t now = (time_t)(times->now / SECOND) - BEGIN_S + DAY_S;

	if (to)
		*to = now;
	return now;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	clock_watch("poll", timeout);
	return timeout > 0 ? wait_until(fds, count, times->now + (uint64_t)timeout * MS) :
		__real_poll(fds, count, timeout);
}

int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
	clock_watch("usleep", (int)(us / 1000));
	wait_until(NULL, 0, times->now + us * MS / 1000);
	return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	clock_watch("nanosleep", (int)time->tv_sec * 1000);
	wait_until(NULL, 0, times->now + (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec);
	return 0;
}

/* For alarms of CLOCK_MONOTONIC that are given as a time. */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before)
{
	const struct itimerspec none = { .it_value = { 0 } };
	uint64_t when = (uint64_t)at->it_value.tv_sec * SECOND + (uint64_t)at->it_value.tv_nsec;
	int result = __real_timerfd_settime(fd, 0, &none, before), at_most = TIMERS;

	if (!(flags & TFD_TIMER_ABSTIME))
		abort();
	lock();
	for (int i = 0; i < TIMERS; i++)
		if (timers[i].fd == fd) {
			timers[i].at = 0;
			at_most = i;
		} else if (!timers[i].at && at_most == TIMERS) {
			at_most = i;
		}
	if (at_most == TIMERS)
		abort();
	timers[at_most].fd = fd;
	timers[at_most].at = when;
	unlock();
	ring(times->now, 0);
	return result;
}
