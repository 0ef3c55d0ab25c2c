/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "fake_qmp.h"

enum { DRIP_MS = 20, LINE = 4096, LINES = 64 };

struct fake_qmp {
	struct fake_script script;
	pthread_t thread;
	int client;			/* the client's end of a socket pair, or -1 */
	int listener;			/* or -1 */

	pthread_mutex_t lock;		/* for all members that follow */
	pthread_cond_t came;
	int fd;
	bool mute, over;
	int answered;
	char *lines[LINES];
	int count;
};

const char fake_greeting[] =
	"{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 22, \"minor\": 2, \"major\": 7}, "
	"\"package\": \"\"}, \"capabilities\": [\"oob\"]}}\r\n";

static void say(const struct fake_qmp *fake, int fd, const char *text)
{
	size_t size = strlen(text), piece = fake->script.piece ? fake->script.piece : size;

	for (size_t at = 0; at < size; at += piece) {
		size_t part = size - at < piece ? size - at : piece;

		if (send(fd, text + at, part, MSG_NOSIGNAL) != (ssize_t)part)
			return;
	}
}

static bool is_over(struct fake_qmp *fake)
{
	bool over;

	pthread_mutex_lock(&fake->lock);
	over = fake->over;
	pthread_mutex_unlock(&fake->lock);
	return over;
}

/* Sends a byte now and then, until the client hangs up. */
static void drip(struct fake_qmp *fake, int fd, const char *text)
{
	for (; *text && !is_over(fake); text++) {
		if (send(fd, text, 1, MSG_NOSIGNAL) != 1)
			return;
		poll(NULL, 0, DRIP_MS);
	}
}

/* Does the oddity in place of an answer, or of the greeting (id 0). */
static void be_odd(struct fake_qmp *fake, int fd, const char *fair, int id)
{
	static const char *const lies[] = { "\"return\": 7", "\"error\": 7",
		"\"return\": [{}, [], null, {\"name\": 7, \"type\": [], \"label\": {}}]" };
	char *lie = id ? util_format("{\"id\": %d, %s}\r\n", id, lies[id % 3]) :
		util_format("{\"QMP\": [\r\n{\"id\": 1, \"return\": {}}\r\n");

	if (fake->script.odd == FAKE_DRIPS)
		drip(fake, fd, fair);
	if (fake->script.odd == FAKE_LIES)
		say(fake, fd, lie);
	free(lie);
}

static bool is_odd(struct fake_qmp *fake, int answer)
{
	return fake->script.odd != FAKE_FAIR && answer >= fake->script.odd_from;
}

static int count_answer(struct fake_qmp *fake)
{
	int count;

	pthread_mutex_lock(&fake->lock);
	count = ++fake->answered;
	pthread_mutex_unlock(&fake->lock);
	return count;
}

int fake_qmp_answered(struct fake_qmp *fake)
{
	int count;

	pthread_mutex_lock(&fake->lock);
	count = fake->answered;
	pthread_mutex_unlock(&fake->lock);
	return count;
}

static const char *find_answer(const struct fake_qmp *fake, const char *line)
{
	const struct fake_answer *row = fake->script.answers;

	if (fake->script.machine)
		return fake->script.machine(fake->script.context, line);
	while (row && row->request && !strstr(line, row->request))
		row++;
	return row && row->request ? row->answer : NULL;
}

static void answer(struct fake_qmp *fake, int fd, const char *line)
{
	const char *found = find_answer(fake, line), *id = strstr(line, "\"id\":");
	bool odd = is_odd(fake, count_answer(fake));
	char *text;

	if (!found || !id)
		return;
	if (!found[0]) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	if (fake->script.before)
		say(fake, fd, fake->script.before);
	text = util_format("{\"id\": %d, %s}\r\n", atoi(id + 5), found);
	if (odd)
		be_odd(fake, fd, text, atoi(id + 5));
	else
		say(fake, fd, text);
	free(text);
}

static void keep(struct fake_qmp *fake, const char *line)
{
	pthread_mutex_lock(&fake->lock);
	if (fake->count < LINES)
		fake->lines[fake->count++] = util_copy(line, strlen(line));
	pthread_cond_broadcast(&fake->came);
	pthread_mutex_unlock(&fake->lock);
}

/* Waits while the server is mute. It answers later, as a process does that was stopped. */
static void await_voice(struct fake_qmp *fake)
{
	pthread_mutex_lock(&fake->lock);
	while (fake->mute && !fake->over)
		pthread_cond_wait(&fake->came, &fake->lock);
	pthread_mutex_unlock(&fake->lock);
}

void fake_qmp_mute(struct fake_qmp *fake, bool mute)
{
	pthread_mutex_lock(&fake->lock);
	fake->mute = mute;
	pthread_cond_broadcast(&fake->came);
	pthread_mutex_unlock(&fake->lock);
}

static void await_turn(struct fake_qmp *fake, int number)
{
	if (number == fake->script.mute_from)
		fake_qmp_mute(fake, true);
	await_voice(fake);
}

static void serve(struct fake_qmp *fake, int fd)
{
	char line[LINE];
	size_t size = 0;
	int number = 1;

	await_turn(fake, number);
	if (fake->script.greeting && is_odd(fake, 0))
		be_odd(fake, fd, fake->script.greeting, 0);
	else if (fake->script.greeting)
		say(fake, fd, fake->script.greeting);
	while (size < LINE - 1 && recv(fd, line + size, 1, 0) == 1) {
		if (line[size++] != '\n')
			continue;
		line[size - 1] = '\0';
		keep(fake, line);
		await_turn(fake, ++number);
		answer(fake, fd, line);
		size = 0;
	}
}

static void *run(void *context)
{
	struct fake_qmp *fake = context;
	int fd = fake->listener >= 0 ? accept(fake->listener, NULL, NULL) : fake->fd;

	pthread_mutex_lock(&fake->lock);
	fake->fd = fd;
	pthread_mutex_unlock(&fake->lock);
	if (fd >= 0)
		serve(fake, fd);
	return NULL;
}

static struct fake_qmp *begin(const struct fake_script *script, int fd, int client, int listener)
{
	struct fake_qmp *fake = util_alloc(sizeof(*fake));

	fake->script = *script;
	fake->fd = fd;
	fake->client = client;
	fake->listener = listener;
	pthread_mutex_init(&fake->lock, NULL);
	pthread_cond_init(&fake->came, NULL);
	if (pthread_create(&fake->thread, NULL, run, fake) != 0)
		abort();
	return fake;
}

struct fake_qmp *fake_qmp_new(const struct fake_script *script)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		abort();
	return begin(script, ends[0], ends[1], -1);
}

struct fake_qmp *fake_qmp_listen(const struct fake_script *script, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncat(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fd, 1) < 0)
		abort();
	return begin(script, -1, -1, fd);
}

void fake_qmp_hang_up(struct fake_qmp *fake)
{
	pthread_mutex_lock(&fake->lock);
	fake->over = true;
	pthread_cond_broadcast(&fake->came);
	if (fake->fd >= 0)
		shutdown(fake->fd, SHUT_RDWR);
	pthread_mutex_unlock(&fake->lock);
}

void fake_qmp_free(struct fake_qmp *fake)
{
	if (fake->listener >= 0)
		shutdown(fake->listener, SHUT_RDWR);
	fake_qmp_hang_up(fake);
	pthread_join(fake->thread, NULL);
	if (fake->fd >= 0)
		close(fake->fd);
	if (fake->listener >= 0)
		close(fake->listener);
	for (int i = 0; i < fake->count; i++)
		free(fake->lines[i]);
	pthread_mutex_destroy(&fake->lock);
	pthread_cond_destroy(&fake->came);
	free(fake);
}

int fake_qmp_fd(struct fake_qmp *fake)
{
	return fake->client;
}

void fake_qmp_say(struct fake_qmp *fake, const char *text)
{
	say(fake, fake->fd, text);
}

const char *fake_qmp_wait(struct fake_qmp *fake, const char *part)
{
	const char *found = NULL;

	pthread_mutex_lock(&fake->lock);
	for (int i = 0; !found;) {
		while (i < fake->count && !found) {
			found = strstr(fake->lines[i], part) ? fake->lines[i] : NULL;
			i++;
		}
		if (!found)
			pthread_cond_wait(&fake->came, &fake->lock);
	}
	pthread_mutex_unlock(&fake->lock);
	return found;
}
