/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/packets.h"
#include "guest.h"
#include "setup.h"

enum { TURN_NS = TRAFFIC_TURN_MS * (int)NS_PER_MS };

struct serving {
	int fd;
	bool hurry;
	struct traffic *traffic;
	uint64_t next;			/* when the next turn begins, ns of the host's clock */
	_Atomic uint64_t *sent;
};

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncat(address.sun_path, path, sizeof(address.sun_path) - 1);
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1) < 0)
		abort();
	return fd;
}

/* Sends all that is there. False: the host has gone. */
static bool flush(struct serving *serving)
{
	struct packets *packets = traffic_bytes(serving->traffic);
	size_t at = 0;

	while (at < packets->size) {
		size_t left = packets->size - at;
		ssize_t went = send(serving->fd, packets->bytes + at,
			left < KTOP_PACKET_MAX ? left : KTOP_PACKET_MAX, MSG_NOSIGNAL);

		if (went < 0)
			return false;
		at += (size_t)went;
	}
	packets->size = 0;
	atomic_store(serving->sent, traffic_samples(serving->traffic) + traffic_events(serving->traffic));
	return true;
}

/* Answers each control line; the facts that `hello` asks for were sent already. False: the host has gone. */
static bool answer(struct serving *serving)
{
	char lines[256];
	ssize_t got = recv(serving->fd, lines, sizeof(lines), MSG_DONTWAIT);

	for (ssize_t i = 0; i < got; i++)
		if (lines[i] == '\n')
			traffic_reply(serving->traffic);
	return got != 0;
}

static int wait_ms(const struct serving *serving)
{
	uint64_t now = util_now();

	return serving->hurry || serving->next <= now ? 0 : (int)((serving->next - now) / NS_PER_MS + 1);
}

static void serve(struct serving *serving)
{
	struct pollfd ready = { .fd = serving->fd, .events = POLLIN };

	traffic_hello(serving->traffic);
	serving->next = util_now();
	do {
		poll(&ready, 1, wait_ms(serving));
		if ((ready.revents & POLLIN) && !answer(serving))
			break;
		if (wait_ms(serving) == 0) {
			traffic_turn(serving->traffic);
			serving->next += TURN_NS;
		}
		if (serving->next + 10 * (uint64_t)TURN_NS < util_now())
			serving->next = util_now();
	} while (flush(serving));
	close(serving->fd);
}

static _Noreturn void run(int listener, const struct setup *setup, bool hurry,
	_Atomic uint64_t *sent)
{
	struct world *world = world_new(&setup->world);
	struct serving serving = { .hurry = hurry, .sent = sent };

	for (;;) {
		serving.traffic = traffic_new(world, &setup->traffic);
		serving.fd = accept(listener, NULL, NULL);
		if (serving.fd < 0)
			_exit(1);
		serve(&serving);
		traffic_free(serving.traffic);
	}
}

struct guest guest_start(const char *socket, const struct setup *setup, bool hurry)
{
	int listener = listen_at(socket);
	struct guest guest = { .sent = mmap(NULL, sizeof(*guest.sent), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0) };

	guest.pid = fork();
	if (guest.pid < 0 || guest.sent == MAP_FAILED)
		abort();
	if (guest.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		run(listener, setup, hurry, guest.sent);
	}
	close(listener);
	return guest;
}

void guest_end(struct guest *guest)
{
	kill(guest->pid, SIGTERM);
	waitpid(guest->pid, NULL, 0);
	munmap(guest->sent, sizeof(*guest->sent));
}
