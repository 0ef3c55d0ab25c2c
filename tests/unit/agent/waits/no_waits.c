/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tests/unit/clock.h"
#include "no_waits.h"

static _Thread_local bool watched;
static _Thread_local int polls_left;
static _Thread_local uint64_t polls_late;	/* until then polls may wait; 0: they are counted instead */
static const char *seen;		/* used by the tests' thread alone */

void no_waits_begin(int polls)
{
	polls_left = polls;
	polls_late = 0;
	watched = true;
}

void no_waits_until(uint64_t late)
{
	polls_late = late;
	watched = true;
}

void no_waits_end(void)
{
	watched = false;
}

const char *no_waits_seen(void)
{
	return seen;
}

static void note(const char *call)
{
	if (watched && !seen)
		seen = call;
}

/* A file may wait for its disk. A socket or a pipe may wait unless it is non-blocking. */
static void note_read(const char *call, int fd, int flags)
{
	if (watched && !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK))
		note(call);
}

void clock_watch(const char *call, int timeout_ms)
{
	bool sleeps = strcmp(call, "poll") != 0;

	if (!watched)
		return;
	if (polls_late && timeout_ms > 0 && util_now() + (uint64_t)timeout_ms * NS_PER_MS > polls_late + NS_PER_MS)
		note("poll beyond the end");
	if (polls_late ? timeout_ms < 0 : sleeps || (timeout_ms != 0 && polls_left-- == 0))
		note(call);
}

ssize_t __real_recv(int fd, void *to, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *to, size_t size, int flags)
{
	note_read("recv", fd, flags);
	return __real_recv(fd, to, size, flags);
}

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size)
{
	note_read("read", fd, 0);
	return __real_read(fd, to, size);
}

int __real_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	note_read("connect", fd, 0);
	return __real_connect(fd, address, size);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	note("fsync");
	return __real_fsync(fd);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
	note("pthread_join");
	return __real_pthread_join(thread, result);
}

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	note("pthread_cond_wait");
	return __real_pthread_cond_wait(condition, lock);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
	note("opendir");
	return __real_opendir(path);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	note("fopen");
	return __real_fopen(path, mode);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static const char *held;		/* what begins with this path; NULL: none */
static int waiting;

void no_waits_hold(const char *path)
{
	pthread_mutex_lock(&lock);
	held = path;
	pthread_cond_broadcast(&let_go);
	pthread_mutex_unlock(&lock);
}

int no_waits_held(void)
{
	int count;

	pthread_mutex_lock(&lock);
	count = waiting;
	pthread_mutex_unlock(&lock);
	return count;
}

static void hold(const char *path)
{
	pthread_mutex_lock(&lock);
	waiting++;
	while (!watched && held && strncmp(held, path, strlen(held)) == 0)
		__real_pthread_cond_wait(&let_go, &lock);
	waiting--;
	pthread_mutex_unlock(&lock);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
	note("open");
	hold(path);
	return __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode)
{
	note("openat");
	hold(path);
	return __real_openat(folder, path, flags, mode);
}

int __real_stat(const char *path, struct stat *facts);
int __wrap_stat(const char *path, struct stat *facts);
int __wrap_stat(const char *path, struct stat *facts)
{
	note("stat");
	return __real_stat(path, facts);
}

int __real_lstat(const char *path, struct stat *facts);
int __wrap_lstat(const char *path, struct stat *facts);
int __wrap_lstat(const char *path, struct stat *facts)
{
	note("lstat");
	return __real_lstat(path, facts);
}

int __real_fstatat(int folder, const char *path, struct stat *facts, int flags);
int __wrap_fstatat(int folder, const char *path, struct stat *facts, int flags);
int __wrap_fstatat(int folder, const char *path, struct stat *facts, int flags)
{
	note("fstatat");
	return __real_fstatat(folder, path, facts, flags);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	note("access");
	return __real_access(path, mode);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
	note("mkdir");
	hold(path);
	return __real_mkdir(path, mode);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	note("rename");
	return __real_rename(from, to);
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	note_read("write", fd, 0);
	return __real_write(fd, bytes, size);
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
	note("realpath");
	return __real_realpath(path, resolved);
}
