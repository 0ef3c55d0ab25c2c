/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/vm/port_socket.h"
#include "tests/unit/fakes/scratch.h"

static struct port_socket *pair(int *far)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	*far = ends[1];
	return port_socket_from_fd(ends[0]);
}

static void test_reads(void **state)
{
	char bytes[8];
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 0);	/* nothing now; no wait */
	assert_int_equal(write(far, "packet", 6), 6);
	assert_int_equal(port_socket_read(socket, bytes, 0), 0);
	assert_int_equal(port_socket_read(socket, bytes, 4), 4);
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "et", 2);
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 0);
	assert_int_equal(write(far, "end", 3), 3);
	close(far);
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 3);	/* what is left comes first */
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), -1);
	port_socket_free(socket);
	port_socket_free(NULL);
}

static void test_sends(void **state)
{
	char bytes[8];
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	assert_true(port_socket_send(socket, "start\n", 6));
	assert_false(port_socket_wants_write(socket));
	assert_int_equal(read(far, bytes, sizeof(bytes)), 6);
	assert_memory_equal(bytes, "start\n", 6);
	close(far);
	port_socket_free(socket);
}

/* To a side that does not read: whole lines are queued or refused, and come in order later. */
static void test_queue(void **state)
{
	char line[100], got[100];
	int far, lines = 0, size = 4096;
	struct port_socket *socket = pair(&far);

	(void)state;
	assert_int_equal(setsockopt(port_socket_fd(socket), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	for (;; lines++) {
		assert_true(lines < 100000);
		memset(line, 'a' + lines % 26, sizeof(line));
		if (!port_socket_send(socket, line, sizeof(line)))
			break;
	}
	assert_true(port_socket_wants_write(socket));
	assert_true(lines * sizeof(line) > 65536 - sizeof(line));
	assert_true(port_socket_flush(socket));
	for (int i = 0; i < lines; i++) {
		memset(line, 'a' + i % 26, sizeof(line));
		for (size_t have = 0; have < sizeof(got);) {
			ssize_t part = read(far, got + have, sizeof(got) - have);

			assert_true(part > 0);
			have += (size_t)part;
			assert_true(port_socket_flush(socket));
		}
		assert_memory_equal(got, line, sizeof(line));
	}
	assert_false(port_socket_wants_write(socket));
	assert_true(port_socket_send(socket, "more", 4));
	assert_false(port_socket_send(socket, NULL, 70000));
	close(far);
	port_socket_free(socket);
}

/* No SIGPIPE: this program would end. */
static void test_other_side_gone(void **state)
{
	char byte;
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	close(far);
	assert_false(port_socket_send(socket, "start\n", 6));
	assert_false(port_socket_send(socket, "start\n", 6));
	assert_false(port_socket_wants_write(socket));
	assert_int_equal(port_socket_read(socket, &byte, 1), -1);
	port_socket_free(socket);
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 0), 0);
	return fd;
}

static void test_connects(void **state)
{
	int listener = listen_at(scratch_path("port")), far;
	char *error = NULL, byte = 0;
	struct port_socket *socket = port_socket_connect(scratch_path("port"), &error);
	struct pollfd wait = { .events = POLLIN };

	(void)state;
	assert_non_null(socket);
	far = accept(listener, NULL, NULL);
	assert_true(far >= 0);
	assert_int_equal(write(far, "x", 1), 1);
	wait.fd = port_socket_fd(socket);
	assert_int_equal(poll(&wait, 1, 10000), 1);
	assert_int_equal(port_socket_read(socket, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	port_socket_free(socket);
	close(far);
	close(listener);
}

static void test_cannot_connect(void **state)
{
	char *error = NULL, *path = util_format("%s/%0200d", scratch_path("."), 0);
	int listener = listen_at(scratch_path("taken"));
	struct port_socket *first, *second;

	(void)state;
	assert_null(port_socket_connect(scratch_path("none"), &error));
	assert_non_null(strstr(error, "none: not connected: No such file"));
	free(error);
	assert_null(port_socket_connect(path, &error));
	assert_non_null(strstr(error, "longer than 107 bytes"));
	free(error);

	first = port_socket_connect(scratch_path("taken"), &error);
	assert_non_null(first);
	second = port_socket_connect(scratch_path("taken"), &error);	/* one waits already; no wait here */
	assert_null(second);
	assert_non_null(strstr(error, "another program"));
	free(error);
	close(listener);
	assert_null(port_socket_connect(scratch_path("taken"), &error));
	assert_non_null(strstr(error, "is the virtual machine running?"));
	free(error);
	port_socket_free(first);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_sends),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_other_side_gone),
		cmocka_unit_test(test_connects),
		cmocka_unit_test(test_cannot_connect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
