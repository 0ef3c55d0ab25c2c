/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "port_socket.h"

enum {
	QUEUE_SIZE = 65536,
	PIECE = 65536,			/* bytes in one call of recv() */
	LITTLE = 16384, MUCH = 65536,	/* bytes between two rests: these become longer, shorter */
	MANY = 262144,			/* kept bytes of which the owner is told whatever time it is */
	LEAST_US = 500,			/* the shortest rest */
	KEEP = 1 << 20,			/* bytes of memory that stay when nothing is kept any more */
};

struct port_socket {
	int fd;
	struct wakeup *wakeup;		/* sent while the owner is told of kept bytes, or the socket is closed */
	bool alone;			/* there is no thread */

	/* the owner's */
	bool gone;			/* sending has failed */
	size_t queued;			/* bytes that wait in `queue` */
	char queue[QUEUE_SIZE];

	pthread_mutex_t lock;		/* guards what follows, and reading from fd */
	pthread_cond_t changed;		/* the owner has had the lock: there may be room, or `left` is set */
	atomic_bool wanted;		/* not guarded: the owner waits for the lock, and the thread lets it pass */
	bool told;			/* the owner is told of what is kept */
	uint64_t at;			/* from then on, by util_now, it is told of a few bytes, too */
	bool left;			/* the thread ends, and frees everything */
	char *kept;			/* a ring of PORT_SOCKET_ROOM bytes; MAP_FAILED: there is no memory */
	size_t begin, end;		/* what is kept lies between these, modulo its size; both 0 if nothing is */
	bool closed;			/* the socket is; `why`: errno, or 0: by the other side */
	int why;
};

static void free_all(struct port_socket *socket)
{
	close(socket->fd);
	wakeup_free(socket->wakeup);
	pthread_cond_destroy(&socket->changed);
	pthread_mutex_destroy(&socket->lock);
	if (socket->kept != MAP_FAILED)
		munmap(socket->kept, PORT_SOCKET_ROOM);
	free(socket);
}

static bool is_only_later(int why)
{
	return why == EAGAIN || why == EINTR;
}

/* ---- the reading thread; it holds the lock ---- */

/* Tells the owner that bytes are kept, once it is worth its while. */
static void tell(struct port_socket *socket)
{
	size_t kept = socket->end - socket->begin;

	if (socket->told || !kept || (kept < MANY && socket->at && util_now() < socket->at))
		return;
	socket->told = true;
	wakeup_send(socket->wakeup);
}

/* Reads a piece, and adds its size to the burst. False: there is nothing more now, or the socket is closed. */
static bool keep(struct port_socket *socket, size_t *burst)
{
	size_t at = socket->end % PORT_SOCKET_ROOM, room = PORT_SOCKET_ROOM - (socket->end - socket->begin);
	size_t most = PORT_SOCKET_ROOM - at < room ? PORT_SOCKET_ROOM - at : room, wanted = most < PIECE ? most : PIECE;
	ssize_t got = recv(socket->fd, socket->kept + at, wanted, MSG_DONTWAIT);

	socket->closed = got == 0 || (got < 0 && !is_only_later(errno));
	socket->why = got < 0 ? errno : 0;
	if (socket->closed)
		wakeup_send(socket->wakeup);
	if (got > 0) {
		socket->end += (size_t)got;
		*burst += (size_t)got;
	}
	tell(socket);
	return got == (ssize_t)wanted;
}

/* Waits for more bytes, without the lock, after a rest of so many us. The next ones, if any come, tell the owner. */
static void await_more(struct port_socket *socket, useconds_t rest)
{
	struct pollfd ready = { .fd = socket->fd, .events = POLLIN };
	uint64_t due = socket->begin < socket->end && !socket->told ? socket->at : UINT64_MAX, now;

	pthread_mutex_unlock(&socket->lock);
	if (rest)
		usleep(rest);
	now = util_now();
	poll(&ready, 1, due == UINT64_MAX ? -1 :
		PORT_SOCKET_REST_MS + (due > now ? (int)((due - now) / NS_PER_MS) : 0));
	pthread_mutex_lock(&socket->lock);
}

/* So that the bytes of the next rest are between LITTLE and MUCH, for which a socket has room. */
static useconds_t next_rest(useconds_t rest, size_t burst)
{
	const useconds_t most = PORT_SOCKET_REST_MS * 1000;

	if (burst > MUCH)
		return rest / 4 < LEAST_US ? 0 : rest / 4;
	if (burst >= LITTLE)
		return rest;
	return rest < LEAST_US ? LEAST_US : rest < most / 2 ? rest * 2 : most;
}

/* No rest where few bytes come and the last ones came long ago: to wake for those that come next costs less. */
static bool is_worthwhile(useconds_t rest, uint64_t between)
{
	return rest < PORT_SOCKET_REST_MS * 1000 || between < PORT_SOCKET_REST_MS * NS_PER_MS / 2;
}

static void *read_always(void *context)
{
	struct port_socket *socket = context;
	uint64_t now, before = 0;
	useconds_t rest = 0;
	size_t burst = 0;
	sigset_t signals;

	sigfillset(&signals);			/* signals go to the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_mutex_lock(&socket->lock);
	while (!socket->left) {
		if (socket->closed || socket->wanted || socket->end - socket->begin == PORT_SOCKET_ROOM) {
			pthread_cond_wait(&socket->changed, &socket->lock);
		} else if (!keep(socket, &burst) && !socket->closed) {
			now = util_now();
			rest = next_rest(rest, burst);
			await_more(socket, is_worthwhile(rest, now - before) ? rest : 0);
			burst = 0;
			before = now;
		}
	}
	pthread_mutex_unlock(&socket->lock);
	free_all(socket);
	return NULL;
}

/* ---- the owner ---- */

struct port_socket *port_socket_from_fd(int fd)
{
	struct port_socket *socket = util_alloc(sizeof(*socket));
	int flags = fcntl(fd, F_GETFL);
	pthread_t thread;

	socket->fd = fd;
	socket->kept = mmap(NULL, PORT_SOCKET_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	socket->gone = flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0;
	socket->wakeup = wakeup_new();
	pthread_mutex_init(&socket->lock, NULL);
	pthread_cond_init(&socket->changed, NULL);
	socket->alone = socket->kept == MAP_FAILED || wakeup_fd(socket->wakeup) < 0 ||
		pthread_create(&thread, NULL, read_always, socket) != 0;
	if (!socket->alone)
		pthread_detach(thread);
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
		return util_open_remedy(why, "name the socket of the port org.ktop.0");
	}
}

struct port_socket *port_socket_connect(const char *path, bool *taken, char **error)
{
	int fd = unix_socket_connect(path);

	*taken = fd < 0 && errno == EAGAIN;
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

/* Before the thread reads its next piece. */
static void lock_first(struct port_socket *socket)
{
	socket->wanted = true;
	pthread_mutex_lock(&socket->lock);
	socket->wanted = false;
	pthread_cond_signal(&socket->changed);
}

void port_socket_free(struct port_socket *socket)
{
	if (!socket)
		return;
	if (socket->alone) {
		free_all(socket);
		return;
	}
	lock_first(socket);
	socket->left = true;
	shutdown(socket->fd, SHUT_RDWR);	/* ends the wait for more bytes; the other side sees it, too */
	pthread_mutex_unlock(&socket->lock);
}

int port_socket_fd(const struct port_socket *socket)
{
	return socket->fd;
}

int port_socket_wakeup(struct port_socket *socket, uint64_t at)
{
	if (socket->alone)
		return -1;
	lock_first(socket);
	socket->at = at;
	tell(socket);
	pthread_mutex_unlock(&socket->lock);
	return wakeup_fd(socket->wakeup);
}

/* Called under the lock. */
static size_t take_kept(struct port_socket *socket, void *to, size_t size)
{
	size_t at = socket->begin % PORT_SOCKET_ROOM, kept = socket->end - socket->begin;
	size_t whole = PORT_SOCKET_ROOM - at < kept ? PORT_SOCKET_ROOM - at : kept, got = whole < size ? whole : size;

	memcpy(to, socket->kept + at, got);
	socket->begin += got;
	if (socket->begin < socket->end)
		return got;
	if (!socket->closed)
		wakeup_clear(socket->wakeup);
	if (socket->end > KEEP)		/* what it has used goes back to the system */
		madvise(socket->kept, PORT_SOCKET_ROOM, MADV_DONTNEED);
	socket->begin = socket->end = 0;
	socket->told = false;
	return got;
}

ssize_t port_socket_read(struct port_socket *socket, void *to, size_t size)
{
	ssize_t got;
	int why;

	if (size == 0)
		return 0;
	lock_first(socket);
	if (socket->begin < socket->end) {
		got = (ssize_t)take_kept(socket, to, size);
		why = 0;
	} else if (socket->closed) {
		got = 0;
		why = socket->why;
	} else {
		got = recv(socket->fd, to, size, MSG_DONTWAIT);
		why = got < 0 ? errno : 0;
	}
	pthread_mutex_unlock(&socket->lock);
	return got > 0 ? got : is_only_later(why) ? 0 : -1;
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
