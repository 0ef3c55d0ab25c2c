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

#include "agent/vm/source.h"
#include "tests/unit/fakes/scratch.h"

static struct source *pair(int *far)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	*far = ends[1];
	return source_from_fd(ends[0]);
}

static void test_reads(void **state)
{
	char bytes[8];
	int far;
	struct source *source = pair(&far);

	(void)state;
	assert_int_equal(source_read(source, bytes, sizeof(bytes)), 0);	/* nothing now; no wait */
	assert_int_equal(write(far, "packet", 6), 6);
	assert_int_equal(source_read(source, bytes, 0), 0);
	assert_int_equal(source_read(source, bytes, 4), 4);
	assert_int_equal(source_read(source, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "et", 2);
	assert_int_equal(source_read(source, bytes, sizeof(bytes)), 0);
	assert_int_equal(write(far, "end", 3), 3);
	close(far);
	assert_int_equal(source_read(source, bytes, sizeof(bytes)), 3);	/* what is left comes first */
	assert_int_equal(source_read(source, bytes, sizeof(bytes)), -1);
	source_free(source);
	source_free(NULL);
}

static void test_sends(void **state)
{
	char bytes[8];
	int far;
	struct source *source = pair(&far);

	(void)state;
	assert_true(source_send(source, "start\n", 6));
	assert_false(source_wants_write(source));
	assert_int_equal(read(far, bytes, sizeof(bytes)), 6);
	assert_memory_equal(bytes, "start\n", 6);
	close(far);
	source_free(source);
}

/* To a side that does not read: whole lines are queued or refused, and come in order later. */
static void test_queue(void **state)
{
	char line[100], got[100];
	int far, lines = 0, size = 4096;
	struct source *source = pair(&far);

	(void)state;
	assert_int_equal(setsockopt(source_fd(source), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	for (;; lines++) {
		assert_true(lines < 100000);
		memset(line, 'a' + lines % 26, sizeof(line));
		if (!source_send(source, line, sizeof(line)))
			break;
	}
	assert_true(source_wants_write(source));
	assert_true(lines * sizeof(line) > 65536 - sizeof(line));
	assert_true(source_flush(source));
	for (int i = 0; i < lines; i++) {
		memset(line, 'a' + i % 26, sizeof(line));
		for (size_t have = 0; have < sizeof(got);) {
			ssize_t part = read(far, got + have, sizeof(got) - have);

			assert_true(part > 0);
			have += (size_t)part;
			assert_true(source_flush(source));
		}
		assert_memory_equal(got, line, sizeof(line));
	}
	assert_false(source_wants_write(source));
	assert_true(source_send(source, "more", 4));
	assert_false(source_send(source, NULL, 70000));
	close(far);
	source_free(source);
}

/* No SIGPIPE: this program would end. */
static void test_other_side_gone(void **state)
{
	char byte;
	int far;
	struct source *source = pair(&far);

	(void)state;
	close(far);
	assert_false(source_send(source, "start\n", 6));
	assert_false(source_send(source, "start\n", 6));
	assert_false(source_wants_write(source));
	assert_int_equal(source_read(source, &byte, 1), -1);
	source_free(source);
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
	struct source *source = source_connect(scratch_path("port"), &error);
	struct pollfd wait = { .events = POLLIN };

	(void)state;
	assert_non_null(source);
	far = accept(listener, NULL, NULL);
	assert_true(far >= 0);
	assert_int_equal(write(far, "x", 1), 1);
	wait.fd = source_fd(source);
	assert_int_equal(poll(&wait, 1, 10000), 1);
	assert_int_equal(source_read(source, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	source_free(source);
	close(far);
	close(listener);
}

static void test_cannot_connect(void **state)
{
	char *error = NULL, *path = util_format("%s/%0200d", scratch_path("."), 0);
	int listener = listen_at(scratch_path("taken"));
	struct source *first, *second;

	(void)state;
	assert_null(source_connect(scratch_path("none"), &error));
	assert_non_null(strstr(error, "none: not connected: No such file"));
	free(error);
	assert_null(source_connect(path, &error));
	assert_non_null(strstr(error, "longer than 107 bytes"));
	free(error);

	first = source_connect(scratch_path("taken"), &error);
	assert_non_null(first);
	second = source_connect(scratch_path("taken"), &error);	/* one waits already; no wait here */
	assert_null(second);
	assert_non_null(strstr(error, "another program"));
	free(error);
	close(listener);
	assert_null(source_connect(scratch_path("taken"), &error));
	assert_non_null(strstr(error, "is the virtual machine running?"));
	free(error);
	source_free(first);
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
