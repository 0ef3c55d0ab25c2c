#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control_socket.h"
#include "util.h"

enum {
	REQUEST_MAX = 4096,		/* bytes */
	WORDS_MAX = 64,
	ANSWER_MAX = 64 << 20,		/* bytes; more than any report */
	WAIT_MS = 100,
};

static const char separator[] = "\x1f";

struct client {
	int fd;				/* -1: free */
	char request[REQUEST_MAX + 1];
	size_t size;
	bool asked;			/* a whole request came; the answer is on its way */
	char *answer;			/* NULL: not yet */
	size_t answer_size, sent;
};

struct control_socket {
	int fd;
	char *path;
	struct control_sink sink;
	struct client clients[CONTROL_CLIENTS];
};

/* ---- where it lies ---- */

static char *folder_path(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && runtime[0] == '/')
		return util_format("%s/ktop", runtime);
	return util_format("/tmp/ktop-%u", (unsigned)getuid());
}

/* Nobody else may have made the folder, or may look into it. */
static char *private_folder(char **error)
{
	char *path = folder_path();
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
		util_fail(error, "%s: %s; is the VM running?", socket, strerror(errno));
		return NULL;
	}
	folder = private_folder(error);
	if (!folder)
		return NULL;
	path = util_format("%s/%jx-%jx", folder, (uintmax_t)is.st_dev, (uintmax_t)is.st_ino);
	free(folder);
	return path;
}

static bool fill_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return false;
	memcpy(address->sun_path, path, strlen(path));
	return true;
}

/* Never waits. -1 with errno; EAGAIN: a live ktop that takes nobody, for it is suspended. */
static int connect_to(const char *path)
{
	struct sockaddr_un address;
	int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int fd = fill_address(&address, path) ? socket(AF_UNIX, kind, 0) : -1;

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int why = errno;

		close(fd);
		errno = why;
		return -1;
	}
	return fd;
}

static bool is_live(const char *path)
{
	int fd = connect_to(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EAGAIN;
}

/* ---- the live ktop's side ---- */

struct control_socket *control_socket_new(const char *path, const struct control_sink *sink,
	char **error)
{
	struct control_socket *control = util_alloc(sizeof(*control));
	struct sockaddr_un address;

	control->sink = *sink;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		control->clients[i].fd = -1;
	if (!is_live(path))
		unlink(path);
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->fd >= 0 && fill_address(&address, path) &&
			bind(control->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			listen(control->fd, CONTROL_CLIENTS) == 0) {
		control->path = util_copy(path, strlen(path));
		return control;
	}
	util_fail(error, "control socket %s: %s; another ktop may serve this VM", path,
		strerror(errno));
	control_socket_free(control);
	return NULL;
}

static void drop(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	free(client->answer);
	*client = (struct client){ .fd = -1 };
}

void control_socket_free(struct control_socket *control)
{
	if (!control)
		return;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		drop(&control->clients[i]);
	if (control->fd >= 0)
		close(control->fd);
	if (control->path)
		unlink(control->path);
	free(control->path);
	free(control);
}

static void give_up(struct control_socket *control, unsigned index)
{
	bool waits = control->clients[index].asked && !control->clients[index].answer;

	drop(&control->clients[index]);
	if (waits)
		control->sink.gone(control->sink.context, index);
}

static void handle_request(struct control_socket *control, unsigned index)
{
	struct client *client = &control->clients[index];
	char *words[WORDS_MAX], *rest = client->request;
	size_t count = 0;

	while (rest && count < WORDS_MAX)
		words[count++] = strsep(&rest, separator);
	client->asked = true;
	control->sink.request(control->sink.context, index, words, count);
}

static void read_request(struct control_socket *control, unsigned index)
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

/* While the answer is made, nothing more may come: what can be read is the end. */
static void watch(struct control_socket *control, unsigned index)
{
	char byte;
	ssize_t got = recv(control->clients[index].fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

	if (got >= 0 || (errno != EAGAIN && errno != EINTR))
		give_up(control, index);
}

static void write_answer(struct client *client)
{
	ssize_t went = send(client->fd, client->answer + client->sent,
		client->answer_size - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (went > 0)
		client->sent += (size_t)went;
	if (client->sent == client->answer_size || (went < 0 && errno != EAGAIN && errno != EINTR))
		drop(client);
}

static void accept_clients(struct control_socket *control)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].fd < 0)
			control->clients[i].fd =
				accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

void control_socket_step(struct control_socket *control)
{
	accept_clients(control);
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++) {
		struct client *client = &control->clients[i];

		if (client->fd < 0)
			continue;
		if (client->answer)
			write_answer(client);
		else if (client->asked)
			watch(control, i);
		else
			read_request(control, i);
	}
}

void control_socket_answer(struct control_socket *control, unsigned client, bool ok,
	const char *text, size_t size)
{
	struct client *to = &control->clients[client];
	const char *head = ok ? "ok\n" : "failed\n";
	size_t head_size = strlen(head);

	if (to->fd < 0 || to->answer)
		return;
	to->answer = util_alloc(head_size + size);
	memcpy(to->answer, head, head_size);
	memcpy(to->answer + head_size, text, size);
	to->answer_size = head_size + size;
	write_answer(to);
}

/* ---- the other side ---- */

static char *find_only(void)
{
	char *folder = folder_path(), *found = NULL;
	DIR *entries = opendir(folder);
	struct dirent *entry;
	int count = 0;

	while (entries && (entry = readdir(entries))) {
		char *path = util_format("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && is_live(path) && count++ == 0)
			found = path;
		else
			free(path);
	}
	if (entries)
		closedir(entries);
	free(folder);
	if (count == 1)
		return found;
	free(found);
	return NULL;
}

char *control_socket_find(const char *socket)
{
	char *path = socket ? control_socket_path(socket, NULL) : find_only();

	if (path && is_live(path))
		return path;
	free(path);
	return NULL;
}

/* All bytes until the other side closes. */
static char *read_all(int fd, uint64_t deadline, size_t *size)
{
	size_t room = 65536;
	char *bytes = util_alloc(room);

	for (*size = 0; *size < ANSWER_MAX;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (util_now() >= deadline)
			break;
		if (poll(&ready, 1, WAIT_MS) <= 0)
			continue;
		got = recv(fd, bytes + *size, room - 1 - *size, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		*size += (size_t)got;
		if (*size == room - 1) {
			room *= 2;
			bytes = util_grow(bytes, room, 1);
		}
	}
	bytes[*size] = '\0';
	return bytes;
}

char *control_socket_ask(const char *path, char *const *words, size_t count, uint64_t deadline,
	bool *ok, size_t *size, char **error)
{
	char *line = util_join(words, count, separator), *request = util_format("%s\n", line);
	char *answer = NULL, *end;
	size_t length = strlen(request);
	int fd = connect_to(path);

	if (strchr(line, '\n') || length > REQUEST_MAX || count > WORDS_MAX)
		util_fail(error,
			"words for the live ktop: too many, too long, or of several lines");
	else if (fd < 0 || send(fd, request, length, MSG_NOSIGNAL) != (ssize_t)length)
		util_fail(error, "%s: the live ktop does not answer: %s; is it suspended?", path,
			strerror(errno));
	else
		answer = read_all(fd, deadline, size);
	if (fd >= 0)
		close(fd);
	free(request);
	free(line);
	if (!answer)
		return NULL;

	end = strchr(answer, '\n');
	if (!end) {
		util_fail(error, "the live ktop gave no answer: it has ended, or is suspended; "
			"look there, and ask again");
		free(answer);
		return NULL;
	}
	*ok = strncmp(answer, "ok\n", 3) == 0;
	*size -= (size_t)(end + 1 - answer);
	memmove(answer, end + 1, *size + 1);
	return answer;
}
