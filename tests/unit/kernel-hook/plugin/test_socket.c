/* SPDX-License-Identifier: MIT */
/* Where the plugin listens: it takes the place of a socket that is dead, and of nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel-hook/plugin/socket.h"
#include "tests/unit/fakes/scratch.h"

static struct plugin_socket one, other;

static void test_a_dead_socket_is_replaced(void **state)
{
	const char *path = scratch_path("dead");

	(void)state;
	assert_null(plugin_socket_listen(&one, path));
	close(one.listener);				/* as of a QEMU that was killed */
	assert_null(plugin_socket_listen(&other, path));
	assert_non_null(plugin_socket_listen(&one, path));	/* this one lives */
	plugin_socket_remove(&other);
	close(other.listener);
	assert_int_equal(access(path, F_OK), -1);
}

/* A file, a folder, a pipe and a link to a file stay as they are. */
static void test_all_else_stays(void **state)
{
	static const char *const names[] = { "file", "folder", "pipe", "link", "empty" };

	(void)state;
	scratch_run("echo precious >file && : >empty && mkdir folder && mkfifo pipe && ln -s file link");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *why = plugin_socket_listen(&one, scratch_path(names[i]));

		assert_non_null(why);
		assert_string_equal(why, "there is something that is no socket");
		plugin_socket_remove(&one);
	}
	scratch_run("grep -q precious file && test -f empty && test -d folder && test -p pipe && test -h link && "
		"rm -r file empty folder pipe link");
}

/* The file was replaced meanwhile: what is there now is somebody else's. */
static void test_only_its_own_is_removed(void **state)
{
	const char *path = scratch_path("own");
	int listener;

	(void)state;
	assert_null(plugin_socket_listen(&one, path));
	listener = one.listener;
	scratch_run("rm own && echo x >own");
	plugin_socket_remove(&one);
	close(listener);
	scratch_run("grep -q x own && rm own");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_dead_socket_is_replaced),
		cmocka_unit_test(test_all_else_stays),
		cmocka_unit_test(test_only_its_own_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
