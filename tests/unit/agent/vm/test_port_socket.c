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

#include "agent/base/util.h"
#include "agent/vm/port_socket.h"
#include "tests/unit/fakes/scratch.h"

enum { AWAITED = -1, MORE_MS = 500 };		/* how long poll() waits */

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
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 0);	/* nothing there, and no wait */
	assert_int_equal(write(far, "packet", 6), 6);
	assert_int_equal(port_socket_read(socket, bytes, 0), 0);
	assert_int_equal(port_socket_read(socket, bytes, 4), 4);
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "et", 2);
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 0);
	assert_int_equal(write(far, "end", 3), 3);
	close(far);
	assert_int_equal(port_socket_read(socket, bytes, sizeof(bytes)), 3);	/* what is left comes before the end */
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

/* The other side does not read: whole lines are queued or refused, and arrive in order later. */
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

/* There must be no SIGPIPE: it would end this program. */
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
	bool taken;
	struct port_socket *socket = port_socket_connect(scratch_path("port"), &taken, &error);
	struct pollfd ready[2] = { { .events = POLLIN }, { .events = POLLIN } };

	(void)state;
	assert_non_null(socket);
	far = accept(listener, NULL, NULL);
	assert_true(far >= 0);
	assert_int_equal(write(far, "x", 1), 1);
	ready[0].fd = port_socket_wakeup(socket, 0);
	ready[1].fd = port_socket_fd(socket);
	assert_true(poll(ready, 2, AWAITED) > 0);	/* the thread may have read it already */
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
	bool taken;

	(void)state;
	assert_null(port_socket_connect(scratch_path("none"), &taken, &error));
	assert_false(taken);
	assert_non_null(strstr(error, "none: not connected: No such file"));
	free(error);
	assert_null(port_socket_connect(path, &taken, &error));
	assert_non_null(strstr(error, "longer than 107 bytes"));
	free(error);

	first = port_socket_connect(scratch_path("taken"), &taken, &error);
	assert_non_null(first);
	/* one client waits already; this one does not wait */
	second = port_socket_connect(scratch_path("taken"), &taken, &error);
	assert_null(second);
	assert_true(taken);
	assert_non_null(strstr(error, "another program"));
	free(error);
	close(listener);
	assert_null(port_socket_connect(scratch_path("taken"), &taken, &error));
	assert_non_null(strstr(error, "is the VM running?"));
	free(error);
	port_socket_free(first);
	free(path);
}

/* ---- a busy owner ---- */

static uint8_t nth_byte(size_t n)
{
	return (uint8_t)(n * 31 + n / 251);
}

/* Sends the bytes up to `end`, until no more is taken for patience_ms; AWAITED: all are. Returns where the next is. */
static size_t send_all(int far, size_t at, size_t end, int patience_ms)
{
	struct pollfd ready = { .fd = far, .events = POLLOUT };

	while (at < end && poll(&ready, 1, patience_ms) > 0) {
		uint8_t bytes[1000];
		size_t size = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
		ssize_t went;

		for (size_t i = 0; i < size; i++)
			bytes[i] = nth_byte(at + i);
		went = send(far, bytes, size, MSG_DONTWAIT);
		at += went > 0 ? (size_t)went : 0;
	}
	return at;
}

/* Reads everything up to `end`, and checks each byte. */
static void read_all(struct port_socket *socket, size_t at, size_t end)
{
	for (int tries = 0; at < end; tries++) {
		uint8_t bytes[3000];
		ssize_t got = port_socket_read(socket, bytes,
			end - at < sizeof(bytes) ? end - at : sizeof(bytes));

		assert_true(got >= 0 && tries < 10000000);
		for (ssize_t i = 0; i < got; i++)
			assert_int_equal(bytes[i], nth_byte(at + (size_t)i));
		at += (size_t)got;
	}
	assert_int_equal(at, end);
}

static bool is_woken(struct port_socket *socket)
{
	struct pollfd ready = { .fd = port_socket_wakeup(socket, 0), .events = POLLIN };

	return poll(&ready, 1, 0) == 1;
}

/* The owner does not read, yet all bytes are taken. Later they come in order, before those that came meanwhile. */
static void test_is_read_for_a_busy_owner(void **state)
{
	const size_t most = PORT_SOCKET_ROOM / 2;
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	assert_int_equal(send_all(far, 0, most, AWAITED), most);
	assert_true(is_woken(socket));
	read_all(socket, 0, most / 2);
	assert_true(is_woken(socket));
	assert_int_equal(send_all(far, most, 2 * most, AWAITED), 2 * most);
	close(far);
	read_all(socket, most / 2, 2 * most);
	assert_int_equal(port_socket_read(socket, &far, 1), -1);
	port_socket_free(socket);
}

/* A few bytes wake the owner, too, if not always at once; so do many, and those that it waits for. */
static void test_wakes_for_few_and_for_many(void **state)
{
	struct pollfd ready = { .events = POLLIN };
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	for (size_t end = 1; end <= 100001; end += 100000) {
		ready.fd = port_socket_wakeup(socket, util_now() + 20 * NS_PER_MS);
		assert_int_equal(send_all(far, 0, end, AWAITED), end);
		assert_int_equal(poll(&ready, 1, AWAITED), 1);
		read_all(socket, 0, end);
	}
	assert_int_equal(send_all(far, 0, 1, AWAITED), 1);
	assert_int_equal(port_socket_wakeup(socket, 0), ready.fd);
	assert_int_equal(poll(&ready, 1, AWAITED), 1);
	read_all(socket, 0, 1);
	close(far);
	port_socket_free(socket);
}

/* No more is kept than there is room for. Once some of it is taken, reading goes on, over the end of the room. */
static void test_keeps_so_much(void **state)
{
	const size_t endless = SIZE_MAX / 2;
	size_t first, second;
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	first = send_all(far, 0, PORT_SOCKET_ROOM, AWAITED);
	first = send_all(far, first, endless, MORE_MS);
	assert_in_range(first, PORT_SOCKET_ROOM, 2 * PORT_SOCKET_ROOM);
	read_all(socket, 0, PORT_SOCKET_ROOM / 2);
	second = send_all(far, first, first + PORT_SOCKET_ROOM / 4, AWAITED);
	assert_int_equal(second, first + PORT_SOCKET_ROOM / 4);
	read_all(socket, PORT_SOCKET_ROOM / 2, second);
	port_socket_free(socket);
	assert_int_equal(read(far, &first, 1), 0);
	close(far);
}

/* Full, with the thread waiting for room: it can be freed all the same. */
static void test_is_freed_while_full(void **state)
{
	int far;
	struct port_socket *socket = pair(&far);
	char byte;

	(void)state;
	send_all(far, 0, SIZE_MAX / 2, MORE_MS);
	port_socket_free(socket);
	assert_true(read(far, &byte, 1) <= 0);		/* it is closed */
	close(far);
}

/* Each byte is told by the wakeup or waits in the socket, and the wakeup is quiet once all was taken. */
static void test_the_wakeup_tells_what_waits(void **state)
{
	struct pollfd ready[2] = { { .events = POLLIN }, { .events = POLLIN } };
	char byte;
	int far;
	struct port_socket *socket = pair(&far);

	(void)state;
	ready[0].fd = port_socket_wakeup(socket, 0);
	ready[1].fd = port_socket_fd(socket);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(write(far, "x", 1), 1);
		assert_true(poll(ready, i % 2 ? 1 : 2, AWAITED) > 0);
		assert_int_equal(port_socket_read(socket, &byte, 1), 1);
		assert_false(is_woken(socket));
	}
	close(far);
	assert_int_equal(poll(ready, 1, AWAITED), 1);
	assert_int_equal(port_socket_read(socket, &byte, 1), -1);
	assert_true(is_woken(socket));
	port_socket_free(socket);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_read_for_a_busy_owner),
		cmocka_unit_test(test_wakes_for_few_and_for_many),
		cmocka_unit_test(test_keeps_so_much),
		cmocka_unit_test(test_is_freed_while_full),
		cmocka_unit_test(test_the_wakeup_tells_what_waits),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_sends),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_other_side_gone),
		cmocka_unit_test(test_connects),
		cmocka_unit_test(test_cannot_connect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
