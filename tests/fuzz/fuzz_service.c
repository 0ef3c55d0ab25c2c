/* SPDX-License-Identifier: MIT */
/*
 * What others ask a live ktop on its control socket. The input is pieces that end before a zero byte. The first byte of
 * a piece names a client, which sends the rest; a piece of one byte ends that client. One session serves all inputs.
 * The guest on its port never tells its facts, so no report comes to its end, and no file is written.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/service/service.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/live_session.h"
#include "fuzz.h"

enum { CLIENTS = CONTROL_CLIENTS + 2, PIECES = 100 };

struct host {
	char *folder, *port;
	struct fake_guest *guest;
	struct session *session;
};

static struct host host;

static void tidy(void)
{
	char *folder = util_format("%s/ktop", host.folder);

	unlink(host.port);
	rmdir(folder);
	rmdir(host.folder);
	free(folder);
}

static void start(void)
{
	host.folder = util_format("/tmp/ktop-fuzz-XXXXXX");
	require_memory(mkdtemp(host.folder) && setenv("XDG_RUNTIME_DIR", host.folder, 1) == 0);
	host.port = util_format("%s/port", host.folder);
	atexit(tidy);
	host.guest = fake_guest_new(host.port);
	host.session = live_session(NULL, host.port, &(struct session_options) { 0 }, NULL);
	require_memory(host.session);
}

static int connect_client(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strncat(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void act(int *client, const char *path, const uint8_t *bytes, size_t size)
{
	if (*client < 0)
		*client = connect_client(path);
	if (*client >= 0 && size > 0) {
		send(*client, bytes, size, MSG_NOSIGNAL);
	} else if (*client >= 0) {
		close(*client);
		*client = -1;
	}
}

static void turn(struct service *service)
{
	session_step(host.session, 0);
	service_step(service);
	fake_guest_step(host.guest);
	host.guest->lines[0] = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	int clients[CLIENTS];
	struct service *service;
	char *path;

	if (!host.session)
		start();
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = -1;
	service = service_new(host.session, host.port, NULL);
	path = control_socket_path(host.port, NULL);
	require_memory(service && path);
	for (int i = 0; i < PIECES && input_piece(&input, &bytes, &size); i++) {
		if (size)
			act(&clients[bytes[0] % CLIENTS], path, bytes + 1, size - 1);
		turn(service);
	}
	turn(service);
	service_free(service);
	require(access(path, F_OK) != 0);
	for (int i = 0; i < CLIENTS; i++)
		if (clients[i] >= 0)
			close(clients[i]);
	free(path);
	return 0;
}
