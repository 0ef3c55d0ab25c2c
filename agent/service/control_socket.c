/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "control_socket.h"

enum {
	REQUEST_MAX = CONTROL_REQUEST_MAX,
	WORDS_MAX = CONTROL_WORDS_MAX,
	HEAD_MAX = 32,			/* bytes of an answer's first line */
};

static const uint64_t patience_ns = CONTROL_PATIENCE_MS * NS_PER_MS;

struct client {
	int fd;				/* -1: free */
	char request[REQUEST_MAX + 1];
	size_t size;
	uint64_t moved;			/* host ns of its coming, or of the last bytes; 0: the next step sets it */
	bool asked;			/* a whole request came, and is being answered */
	bool hurried;			/* the client wants the answer now */
	char *answer;			/* NULL: there is none yet */
	size_t answer_size, sent;
};

struct control_socket {
	int fd;
	char *path;
	struct control_sink sink;
	unsigned connected;		/* so many of the clients are not free */
	struct client clients[CONTROL_CLIENTS];
};

/* ---- paths ---- */

char *control_socket_folder(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && runtime[0] == '/')
		return util_format("%s/ktop", runtime);
	return util_format("/tmp/ktop-%u", (unsigned)getuid());
}

/* The folder must belong to this user, and nobody else may look into it. */
static char *private_folder(char **error)
{
	char *path = control_socket_folder();
	struct stat is;

	if ((mkdir(path, 0700) == 0 || errno == EEXIST) && lstat(path, &is) == 0 &&
			S_ISDIR(is.st_mode) && is.st_uid == getuid() && (is.st_mode & 077) == 0)
		return path;
	util_fail(error, "control socket: %s is not a private folder of this user; remove it",
		path);
	free(path);
	return NULL;
}

char *control_socket_path(const char *socket, char **error)
{
	struct stat is;
	char *folder, *path;

	if (stat(socket, &is) < 0) {
		util_fail(error, "%s: %s; %s", socket, strerror(errno),
			util_open_remedy(errno, "is the VM running?"));
		return NULL;
	}
	folder = private_folder(error);
	if (!folder)
		return NULL;
	path = util_format("%s/%jx-%jx", folder, (uintmax_t)is.st_dev, (uintmax_t)is.st_ino);
	free(folder);
	return path;
}

bool control_socket_is_live(const char *path)
{
	int fd = unix_socket_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EAGAIN;
}

/* ---- the live ktop's side ---- */

/* Removes the sockets of ktops that were killed. Names with a dot belong to sockets that do not listen yet. */
static void remove_dead(const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	struct stat is;

	while (entries && (entry = readdir(entries))) {
		char *path = util_format("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && !control_socket_is_live(path) && errno == ECONNREFUSED &&
				lstat(path, &is) == 0 && S_ISSOCK(is.st_mode))
			unlink(path);
		free(path);
	}
	if (entries)
		closedir(entries);
}

/* The socket has a name of its own until it listens. So a socket at `path` either answers, or is dead. */
static bool listen_at(struct control_socket *control, const char *folder, const char *path)
{
	char *fresh = util_format("%s/.%d", folder, (int)getpid());
	struct sockaddr_un address;
	bool good;

	unlink(fresh);
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	good = control->fd >= 0 && unix_socket_address(&address, fresh) &&
		bind(control->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		listen(control->fd, SOMAXCONN) == 0 && rename(fresh, path) == 0;
	if (!good)
		unlink(fresh);
	free(fresh);
	return good;
}

struct control_socket *control_socket_new(const char *path, const struct control_sink *sink,
	char **error)
{
	struct control_socket *control = util_alloc(sizeof(*control));
	char *folder = util_copy(path, (size_t)(strrchr(path, '/') - path));

	control->sink = *sink;
	control->fd = -1;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		control->clients[i].fd = -1;
	remove_dead(folder);
	if (control_socket_is_live(path))
		util_fail(error, "control socket %s: another ktop serves this VM; end that one", path);
	else if (listen_at(control, folder, path))
		control->path = util_copy(path, strlen(path));
	else
		util_fail(error, "control socket %s: %s; %s", path, strerror(errno),
			util_open_remedy(errno, "make room there"));
	free(folder);
	if (control->path)
		return control;
	control_socket_free(control);
	return NULL;
}

const char *control_socket_at(const struct control_socket *control)
{
	return control->path;
}

bool control_socket_idle(const struct control_socket *control)
{
	return control->connected == 0;
}

static void drop(struct control_socket *control, struct client *client)
{
	if (client->fd >= 0) {
		close(client->fd);
		control->connected--;
	}
	free(client->answer);
	*client = (struct client) { .fd = -1 };
}

void control_socket_free(struct control_socket *control)
{
	if (!control)
		return;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		drop(control, &control->clients[i]);
	if (control->fd >= 0)
		close(control->fd);
	if (control->path)
		unlink(control->path);
	free(control->path);
	free(control);
}

/* Ends the connection. If the client's request is being answered, tells that no answer is wanted. */
static void give_up(struct control_socket *control, unsigned index)
{
	bool waits = control->clients[index].asked && !control->clients[index].answer;

	drop(control, &control->clients[index]);
	if (waits)
		control->sink.gone(control->sink.context, index);
}

static void handle_request(struct control_socket *control, unsigned index)
{
	struct client *client = &control->clients[index];
	char *words[WORDS_MAX], *rest = client->request;
	size_t count = 0;

	while (rest && count < WORDS_MAX)
		words[count++] = strsep(&rest, CONTROL_SEPARATOR);
	client->asked = true;
	control->sink.request(control->sink.context, index, words, count);
}

static void read_request(struct control_socket *control, unsigned index, uint64_t now)
{
	struct client *client = &control->clients[index];
	ssize_t got = recv(client->fd, client->request + client->size, REQUEST_MAX - client->size,
		MSG_DONTWAIT);
	char *end;

	if (got <= 0) {
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			give_up(control, index);
		return;
	}
	client->moved = now;
	client->size += (size_t)got;
	client->request[client->size] = '\0';
	end = strchr(client->request, '\n');
	if (end) {
		*end = '\0';
		handle_request(control, index);
	} else if (client->size == REQUEST_MAX) {
		give_up(control, index);
	}
}

/*
 * While the answer is being made, the client may only close its side for writing, which means that it wants the answer
 * now, or close altogether. Anything else ends the connection.
 */
static void watch(struct control_socket *control, unsigned index)
{
	struct client *client = &control->clients[index];
	struct pollfd is = { .fd = client->fd, .events = POLLIN | POLLRDHUP };

	if (poll(&is, 1, 0) <= 0)
		return;
	if (is.revents & (POLLHUP | POLLERR) || !(is.revents & POLLRDHUP)) {
		give_up(control, index);
	} else if (!client->hurried) {
		client->hurried = true;
		control->sink.hurried(control->sink.context, index);
	}
}

static void write_answer(struct control_socket *control, struct client *client, uint64_t now)
{
	ssize_t went = send(client->fd, client->answer + client->sent,
		client->answer_size - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (went > 0) {
		client->sent += (size_t)went;
		client->moved = now;
	}
	if (client->sent == client->answer_size || (went < 0 && errno != EAGAIN && errno != EINTR))
		drop(control, client);
}

/* Most often nobody comes, and then accept4 costs far more than a look whether somebody does. */
static bool comes(int fd)
{
	struct pollfd is = { .fd = fd, .events = POLLIN };

	return poll(&is, 1, 0) > 0;
}

static void accept_clients(struct control_socket *control, uint64_t now)
{
	bool more = comes(control->fd);

	for (int i = 0; i < CONTROL_CLIENTS && more; i++) {
		if (control->clients[i].fd >= 0)
			continue;
		control->clients[i].fd =
			accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		control->clients[i].moved = now;
		more = control->clients[i].fd >= 0;
		control->connected += more;
	}
}

static void fail(struct control_socket *control, unsigned index, const char *text)
{
	control_socket_answer(control, index, false, text, strlen(text));
	drop(control, &control->clients[index]);
}

/* Ends the connection of a client that sent no request, or took none of its answer, for CONTROL_PATIENCE_MS. */
static void dismiss_silent(struct control_socket *control, unsigned index, uint64_t now)
{
	struct client *client = &control->clients[index];

	client->moved = client->moved ? client->moved : now;
	if (client->fd < 0 || now - client->moved < patience_ns)
		return;
	if (client->answer)
		drop(control, client);
	else if (!client->asked)
		fail(control, index, "closed: no whole request came in time, and others wait; "
			"connect again, and send one");
}

void control_socket_step(struct control_socket *control, uint64_t now)
{
	accept_clients(control, now);
	for (unsigned i = 0; i < CONTROL_CLIENTS && control->connected; i++) {
		struct client *client = &control->clients[i];

		if (client->fd < 0)
			continue;
		if (client->answer)
			write_answer(control, client, now);
		else if (client->asked)
			watch(control, i);
		else
			read_request(control, i, now);
		dismiss_silent(control, i, now);
	}
}

void control_socket_answer(struct control_socket *control, unsigned client, bool ok,
	const char *text, size_t size)
{
	struct client *to = &control->clients[client];
	char head[HEAD_MAX];
	size_t head_size;

	if (to->fd < 0 || to->answer)
		return;
	head_size = (size_t)snprintf(head, sizeof(head), "%s %zu\n", ok ? "ok" : "failed", size);
	to->answer = util_alloc(head_size + size);
	memcpy(to->answer, head, head_size);
	memcpy(to->answer + head_size, text, size);
	to->answer_size = head_size + size;
	to->moved = 0;
	write_answer(control, to, 0);
}
