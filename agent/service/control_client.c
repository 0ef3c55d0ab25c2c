/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "control_client.h"
#include "service.h"

enum {
	ANSWER_MAX = 64 << 20,		/* bytes; larger than any report */
	WAIT_MS = 100,			/* between two checks whether the live ktop is still there */
	TAKE_MS = 10000,		/* longest wait until the live ktop accepts the connection */
	SAY_MS = 3000,			/* longest wait until it says which VM it has */
	REST_MS = 10000,		/* longest wait for the rest of the answer, once the client has had enough */
};

/* The paths of all live control sockets, in fresh memory. */
static char **find_all(size_t *count)
{
	char *folder = control_socket_folder(), **found = NULL;
	DIR *entries = opendir(folder);
	struct dirent *entry;

	*count = 0;
	while (entries && (entry = readdir(entries))) {
		char *path = util_format("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && control_socket_is_live(path)) {
			found = util_grow(found, *count + 1, sizeof(*found));
			found[(*count)++] = path;
		} else {
			free(path);
		}
	}
	if (entries)
		closedir(entries);
	free(folder);
	return found;
}

static void free_all(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
}

static char *find_only(void)
{
	size_t count;
	char **found = find_all(&count);
	char *only = count == 1 ? util_copy(found[0], strlen(found[0])) : NULL;

	free_all(found, count);
	return only;
}

char *control_client_find(const char *socket)
{
	char *path = socket ? control_socket_path(socket, NULL) : find_only();

	if (path && control_socket_is_live(path))
		return path;
	free(path);
	return NULL;
}

/*
 * Reads all bytes until the other side closes, is seen to be stopped, or is late. The bytes are in fresh memory, with a
 * zero behind them. When `enough` says so, it closes this side for writing, which asks for the answer now.
 */
static char *read_all(int fd, const struct control_question *question, size_t *size)
{
	uint64_t deadline = question->deadline;
	bool hurries = false;
	size_t room = 65536;
	char *bytes = util_alloc(room);

	for (*size = 0; *size < ANSWER_MAX;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (util_now() >= deadline)
			break;
		if (!hurries && question->enough && question->enough(question->context)) {
			hurries = shutdown(fd, SHUT_WR) == 0;
			deadline = util_now() + (uint64_t)REST_MS * NS_PER_MS;
		}
		if (poll(&ready, 1, WAIT_MS) <= 0) {
			if (peer_stopped(fd))
				break;
			continue;
		}
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

/* Takes the first line off the answer, so that the text is left. False: the answer is not complete. */
static bool take_head(char *answer, size_t *size, bool *ok)
{
	char *text = strchr(answer, '\n'), *number = strchr(answer, ' ');

	if (!text || !number)
		return false;
	text++;
	*size -= (size_t)(text - answer);
	if (strtoull(number, NULL, 10) != *size)
		return false;
	*ok = strncmp(answer, "ok ", 3) == 0;
	memmove(answer, text, *size + 1);
	return true;
}

char *control_client_ask(const char *path, const struct control_question *question, bool *ok,
	size_t *size, char **error)
{
	char *line = util_join(question->words, question->count, CONTROL_SEPARATOR);
	char *request = util_format("%s\n", line);
	char *answer = NULL;
	size_t length = strlen(request);
	int fd = unix_socket_connect_within(path, TAKE_MS);

	if (strchr(line, '\n') || length > CONTROL_REQUEST_MAX ||
			question->count > CONTROL_WORDS_MAX)
		util_fail(error,
			"the request to the live ktop: too many words, too long, or of several "
			"lines; make it shorter");
	else if (fd < 0 || send(fd, request, length, MSG_NOSIGNAL) != (ssize_t)length)
		util_fail(error, "%s: the live ktop does not answer: %s; %s", path, strerror(errno),
			util_open_remedy(errno, "is it suspended?"));
	else
		answer = read_all(fd, question, size);
	if (fd >= 0)
		close(fd);
	free(request);
	free(line);
	if (!answer)
		return NULL;

	if (take_head(answer, size, ok))
		return answer;
	util_fail(error, "the live ktop gave no answer, or only a part: it has ended, or is suspended "
		"(Ctrl-Z); bring it back by fg in its terminal, and ask again");
	free(answer);
	return NULL;
}

/* The socket of the VM that this live ktop serves, in fresh memory. */
static char *ask_socket(const char *path)
{
	char word[] = "vm", *words[] = { word }, *said;
	const struct control_question question = { .words = words, .count = 1,
		.deadline = util_now() + (uint64_t)SAY_MS * NS_PER_MS };
	bool ok = false;
	size_t size;

	said = control_client_ask(path, &question, &ok, &size, NULL);
	if (said && ok)
		return said;
	free(said);
	return util_format("one that does not answer (is it suspended?)");
}

char *control_client_live(void)
{
	size_t count;
	char **found = find_all(&count), *all;

	for (size_t i = 0; i < count; i++) {
		char *said = ask_socket(found[i]);

		free(found[i]);
		found[i] = said;
	}
	all = count ? util_join(found, count, ", ") : NULL;
	free_all(found, count);
	return all;
}
