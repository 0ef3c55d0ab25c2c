/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into all programs of a test: the clock is CLOCK_TIMES as fast as the host's, 4 or 0.25 say. All that
 * tells the time, and all that waits for one, agree on that. Processor time is what it is. The time of the day is the
 * host's at CLOCK_SINCE (seconds since 1970), and leaves it from there.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ll

static double times = 1;
static int64_t since;

/* REAL(NAME): the function that this one stands for. The sanitizers call some of them before a constructor runs. */
#define REAL(name) ({ static __typeof__(name) *function; \
	*(void **)&function = function ? *(void **)&function : dlsym(RTLD_NEXT, #name); \
	function; })

__attribute__((constructor)) static void read_settings(void)
{
	const char *fast = getenv("CLOCK_TIMES"), *from = getenv("CLOCK_SINCE");

	times = fast && atof(fast) > 0 ? atof(fast) : 1;
	since = from ? atoll(from) * SECOND : 0;
}

static int is_wall(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static int is_of_processor(clockid_t clock)
{
	return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

static int64_t of(struct timespec time)
{
	return time.tv_sec * SECOND + time.tv_nsec;
}

static struct timespec spec(int64_t ns)
{
	ns = ns < 0 ? 0 : ns;
	return (struct timespec) { ns / SECOND, ns % SECOND };
}

/* From the host's time to that of the test, and back; and how long a wait takes on the host. */
static int64_t told(clockid_t clock, int64_t ns)
{
	int64_t begin = is_wall(clock) ? since : 0;

	return begin + (int64_t)((double)(ns - begin) * times);
}

static struct timespec real_time(clockid_t clock, struct timespec time)
{
	int64_t begin = is_wall(clock) ? since : 0;

	return spec(begin + (int64_t)((double)(of(time) - begin) / times));
}

static struct timespec real_wait(struct timespec time)
{
	int64_t ns = of(time);

	return spec(ns ? 1 + (int64_t)((double)ns / times) : 0);
}

static int real_ms(int ms)
{
	double real = ms / times;

	return ms <= 0 ? ms : real > 1e9 ? 1000000000 : 1 + (int)real;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = REAL(clock_gettime)(clock, now);

	if (result == 0 && !is_of_processor(clock))
		*now = spec(told(clock, of(*now)));
	return result;
}

static int64_t now_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return of(now);
}

/* An end whose clock is not told belongs to the one that is nearer. */
static struct timespec real_end(struct timespec time)
{
	int64_t wall = llabs(of(time) - now_of(CLOCK_REALTIME)), other = llabs(of(time) - now_of(CLOCK_MONOTONIC));

	return real_time(wall < other ? CLOCK_REALTIME : CLOCK_MONOTONIC, time);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	int64_t ns = now_of(CLOCK_REALTIME);

	(void)zone;
	*now = (struct timeval) { ns / SECOND, ns % SECOND / 1000 };
	return 0;
}

time_t time(time_t *to)
{
	time_t now = now_of(CLOCK_REALTIME) / SECOND;

	if (to)
		*to = now;
	return now;
}

/* ---- waits ---- */

static void tell_left(struct timespec *left)
{
	if (left)
		*left = spec((int64_t)((double)of(*left) * times));
}

int nanosleep(const struct timespec *wait, struct timespec *left)
{
	struct timespec real = real_wait(*wait);
	int result = REAL(nanosleep)(&real, left);

	tell_left(left);
	return result;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wait, struct timespec *left)
{
	struct timespec real = flags & TIMER_ABSTIME ? real_time(clock, *wait) : real_wait(*wait);
	int result;

	if (is_of_processor(clock))
		return REAL(clock_nanosleep)(clock, flags, wait, left);
	result = REAL(clock_nanosleep)(clock, flags, &real, left);
	if (!(flags & TIMER_ABSTIME))
		tell_left(left);
	return result;
}

int usleep(useconds_t us)
{
	struct timespec wait = spec(us * 1000ll);

	return nanosleep(&wait, NULL);
}

unsigned sleep(unsigned seconds)
{
	struct timespec wait = { .tv_sec = seconds }, left = { 0 };

	return nanosleep(&wait, &left) ? (unsigned)left.tv_sec : 0;
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	return REAL(poll)(fds, count, real_ms(ms));
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *wait, const sigset_t *mask)
{
	struct timespec real = wait ? real_wait(*wait) : (struct timespec) { 0 };

	return REAL(ppoll)(fds, count, wait ? &real : NULL, mask);
}

int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other, struct timeval *restrict wait)
{
	struct timespec limit = { 0 };

	if (wait)
		limit = (struct timespec) { wait->tv_sec, wait->tv_usec * 1000 };
	return pselect(count, in, out, other, wait ? &limit : NULL, NULL);
}

int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
	const struct timespec *restrict wait, const sigset_t *restrict mask)
{
	struct timespec real = wait ? real_wait(*wait) : (struct timespec) { 0 };

	return REAL(pselect)(count, in, out, other, wait ? &real : NULL, mask);
}

int epoll_wait(int fd, struct epoll_event *events, int count, int ms)
{
	return REAL(epoll_wait)(fd, events, count, real_ms(ms));
}

int epoll_pwait(int fd, struct epoll_event *events, int count, int ms, const sigset_t *mask)
{
	return REAL(epoll_pwait)(fd, events, count, real_ms(ms), mask);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock,
	const struct timespec *restrict end)
{
	struct timespec real = real_end(*end);

	return REAL(pthread_cond_timedwait)(condition, lock, &real);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, clockid_t clock,
	const struct timespec *restrict end)
{
	struct timespec real = real_time(clock, *end);

	return REAL(pthread_cond_clockwait)(condition, lock, clock, &real);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict lock, const struct timespec *restrict end)
{
	struct timespec real = real_time(CLOCK_REALTIME, *end);

	return REAL(pthread_mutex_timedlock)(lock, &real);
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *end)
{
	struct timespec real = real_time(clock, *end);

	return REAL(pthread_clockjoin_np)(thread, result, clock, &real);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end)
{
	struct timespec real = real_time(CLOCK_REALTIME, *end);

	return REAL(sem_timedwait)(semaphore, &real);
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict wait)
{
	struct timespec real = wait ? real_wait(*wait) : (struct timespec) { 0 };

	return REAL(sigtimedwait)(set, info, wait ? &real : NULL);
}

/* ---- alarms ---- */

static struct itimerspec real_alarm(const struct itimerspec *at, int absolute)
{
	return (struct itimerspec) {
		.it_value = absolute && of(at->it_value) ? real_end(at->it_value) : real_wait(at->it_value),
		.it_interval = real_wait(at->it_interval),
	};
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before)
{
	struct itimerspec real = real_alarm(at, flags & TFD_TIMER_ABSTIME);

	return REAL(timerfd_settime)(fd, flags, &real, before);
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *at, struct itimerspec *before)
{
	struct itimerspec real = real_alarm(at, flags & TIMER_ABSTIME);

	return REAL(timer_settime)(timer, flags, &real, before);
}

static struct timeval real_interval(struct timeval time)
{
	struct timespec real = real_wait((struct timespec) { time.tv_sec, time.tv_usec * 1000 });

	return (struct timeval) { real.tv_sec, (real.tv_nsec + 999) / 1000 };
}

int setitimer(__itimer_which_t which, const struct itimerval *restrict at, struct itimerval *restrict before)
{
	struct itimerval real = *at;

	if (which == ITIMER_REAL)
		real = (struct itimerval) { real_interval(at->it_interval), real_interval(at->it_value) };
	return REAL(setitimer)(which, &real, before);
}

unsigned alarm(unsigned seconds)
{
	struct itimerval at = { .it_value = { .tv_sec = seconds } }, before = { 0 };

	setitimer(ITIMER_REAL, &at, &before);
	return (unsigned)((double)before.it_value.tv_sec * times);
}
