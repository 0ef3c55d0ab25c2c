/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/vm/launch.h"

enum { WORDS = 16, START_MS = 60000, LATE_MS = 300 };

/* Splits at spaces. The words lie in `line`. */
static size_t split(char *line, char *words[WORDS])
{
	size_t count = 0;

	for (char *word = strtok(line, " "); word && count < WORDS; word = strtok(NULL, " "))
		words[count++] = word;
	return count;
}

static char *join(char **words)
{
	char *line = util_copy("", 0);

	for (size_t i = 0; words && words[i]; i++) {
		char *longer = util_format("%s%s%s", line, i ? " " : "", words[i]);

		free(line);
		line = longer;
	}
	return line;
}

static void check_line_with(const struct launch_extra *extra, const char *given, const char *wanted)
{
	char *copy = util_copy(given, strlen(given)), *words[WORDS], *line;
	size_t count = split(copy, words);
	char **all = launch_words(words, count, extra, "/d", NULL);

	assert_non_null(all);
	line = join(all);
	assert_string_equal(line, wanted);
	free(line);
	launch_words_free(all);
	free(copy);
}

static const struct launch_extra nothing = { .port = false }, hook = { .port = true };

static void check_line(const char *given, const char *wanted)
{
	check_line_with(&hook, given, wanted);
}

/* The guest gets no device for a hook that nobody knows of. With virtio-serial, it is one that may load the hook. */
static void test_an_untouched_guest(void **state)
{
	const struct launch_extra plugin = { .plugin = "p.so" };

	(void)state;
	check_line_with(&nothing, "q -m 64 -kernel k", "q -m 64 -kernel k -qmp unix:/d/qmp,server=on,wait=off");
	check_line_with(&plugin, "q -m 64", "q -m 64 -qmp unix:/d/qmp,server=on,wait=off "
		"-plugin p.so,socket=/d/plugin");
	check_line_with(&nothing, "q -device virtio-serial-pci",
		"q -device virtio-serial-pci -qmp unix:/d/qmp,server=on,wait=off "
		"-chardev socket,id=ktop-run,path=/d/port,server=on,wait=off "
		"-device virtio-serial-pci,id=ktop-run-bus,max_ports=2 "
		"-device virtserialport,id=ktop-run-port,bus=ktop-run-bus.0,chardev=ktop-run,name=org.ktop.0");
}

static void test_adds_behind_the_users_own(void **state)
{
	(void)state;
	check_line("qemu-system-x86_64 -m 64 -kernel k",
		"qemu-system-x86_64 -m 64 -kernel k -qmp unix:/d/qmp,server=on,wait=off "
		"-chardev socket,id=ktop-run,path=/d/port,server=on,wait=off "
		"-device virtio-serial-pci,id=ktop-run-bus,max_ports=2 "
		"-device virtserialport,id=ktop-run-port,bus=ktop-run-bus.0,chardev=ktop-run,name=org.ktop.0");
}

static void test_the_plugin_and_its_arguments(void **state)
{
	static const struct { struct launch_extra extra; const char *wanted; } cases[] = {
		{ { .plugin = "/p.so" }, "/p.so,socket=/d/plugin" },
		{ { .plugin = "/p,.so", .start = true }, "/p,,.so,socket=/d/plugin,start=on" },
		{ { .plugin = "/p.so", .guest_clock = true }, "/p.so,socket=/d/plugin,clock=guest" },
	};
	char q[] = "q", *const words[] = { q };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char **all = launch_words(words, 1, &cases[i].extra, "/d", NULL);

		assert_non_null(all);
		assert_string_equal(all[3], "-plugin");
		assert_string_equal(all[4], cases[i].wanted);
		launch_words_free(all);
	}
}

static void test_ids_do_not_clash(void **state)
{
	(void)state;
	check_line("q -device x,id=ktop-run -drive id=ktop-run2",
		"q -device x,id=ktop-run -drive id=ktop-run2 -qmp unix:/d/qmp,server=on,wait=off "
		"-chardev socket,id=ktop-run3,path=/d/port,server=on,wait=off "
		"-device virtio-serial-pci,id=ktop-run3-bus,max_ports=2 "
		"-device virtserialport,id=ktop-run3-port,bus=ktop-run3-bus.0,chardev=ktop-run3,"
		"name=org.ktop.0");
}

static void test_microvm_has_no_pci(void **state)
{
	(void)state;
	check_line("q -M microvm,acpi=off",
		"q -M microvm,acpi=off -qmp unix:/d/qmp,server=on,wait=off "
		"-chardev socket,id=ktop-run,path=/d/port,server=on,wait=off "
		"-device virtio-serial-device,id=ktop-run-bus,max_ports=2 "
		"-device virtserialport,id=ktop-run-port,bus=ktop-run-bus.0,chardev=ktop-run,name=org.ktop.0");
}

static void test_counted_instructions_stay_repeatable(void **state)
{
	(void)state;
	check_line("q -icount shift=0",
		"q -icount shift=0 -qmp unix:/d/qmp,server=on,wait=off "
		"-chardev socket,id=ktop-run,path=/d/port,server=on,wait=off "
		"-device virtio-serial-pci,id=ktop-run-bus,max_ports=2,ioeventfd=off "
		"-device virtserialport,id=ktop-run-port,bus=ktop-run-bus.0,chardev=ktop-run,name=org.ktop.0");
}

static void test_a_port_that_is_there_is_used(void **state)
{
	(void)state;
	check_line("q -device virtserialport,chardev=c,name=org.ktop.0",
		"q -device virtserialport,chardev=c,name=org.ktop.0 -qmp unix:/d/qmp,server=on,wait=off");
}

static void test_daemon_is_refused(void **state)
{
	char name[] = "q", option[] = "-daemonize", *words[] = { name, option }, *error = NULL;

	(void)state;
	assert_null(launch_words(words, 2, &nothing, "/d", &error));
	assert_non_null(strstr(error, "-daemonize"));
	free(error);
}

/* ---- programs in place of QEMU: a shell, or this program; the added options are further arguments ---- */

static struct launch *launch_shell(const char *script, char **error)
{
	char shell[] = "sh", option[] = "-c", *text = util_copy(script, strlen(script)),
		name[] = "sh";
	char *words[] = { shell, option, text, name };
	struct launch *launch = launch_new(words, 4, &hook, START_MS, error);

	free(text);
	return launch;
}

/* This program, in the role that act() plays. */
static struct launch *launch_self(const char *how, char **error)
{
	char self[] = "/proc/self/exe", *act = util_copy(how, strlen(how)), *words[] = { self, act };
	struct launch *launch = launch_new(words, 2, &hook, START_MS, error);

	free(act);
	return launch;
}

/* The arguments are HOW -qmp unix:PATH,server=... Never returns. */
static void act(const char *how, const char *qmp)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	signal(SIGTERM, strcmp(how, "stubborn") == 0 ? SIG_IGN : SIG_DFL);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	qmp += strlen("unix:");
	memcpy(address.sun_path, qmp, strcspn(qmp, ","));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		_exit(1);
	if (strcmp(how, "late") == 0)
		usleep(LATE_MS * 1000);
	listen(fd, 1);
	for (;;)
		pause();
}

static void test_not_installed(void **state)
{
	char name[] = "no-such-qemu-here", *words[] = { name }, *error = NULL;

	(void)state;
	assert_null(launch_new(words, 1, &hook, START_MS, &error));
	assert_non_null(strstr(error, "no-such-qemu-here: not started: No such file"));
	free(error);
}

static void test_early_end_tells_its_last_line(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(launch_shell("echo first; echo 'sh: bad option' >&2; echo; exit 3", &error));
	assert_string_equal(error, "QEMU ended with status 3: it said: sh: bad option; "
		"check its command line");
	free(error);
}

static void test_folder_is_private_and_goes(void **state)
{
	char *error = NULL, *folder;
	struct launch *launch = launch_self("plain", &error);
	struct stat is;

	(void)state;
	if (!launch)
		fail_msg("%s", error);
	folder = util_copy(launch_qmp(launch), strlen(launch_qmp(launch)) - strlen("/qmp"));
	assert_int_equal(stat(folder, &is), 0);
	assert_int_equal(is.st_mode & 0777, 0700);
	assert_null(launch_failure(launch, 0));
	launch_free(launch);
	assert_int_equal(stat(folder, &is), -1);
	free(folder);
}

/* It prints its process id, and ignores SIGTERM. */
static void test_stubborn_one_is_killed(void **state)
{
	char *error = NULL, *said;
	struct launch *launch = launch_self("stubborn", &error);
	pid_t pid;

	(void)state;
	if (!launch)
		fail_msg("%s", error);
	said = launch_last_words(launch);
	pid = atoi(said);
	assert_true(pid > 0);
	free(said);
	assert_int_equal(kill(pid, 0), 0);
	launch_free(launch);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* The socket has its name before anybody listens there; launch_new returns only once a client can connect. */
static void test_a_socket_that_listens_late_is_awaited(void **state)
{
	char *error = NULL;
	struct launch *launch = launch_self("late", &error);
	int fd;

	(void)state;
	if (!launch)
		fail_msg("%s", error);
	fd = unix_socket_connect(launch_qmp(launch));
	assert_true(fd >= 0 || errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	launch_free(launch);
}

static void test_free_of_nothing(void **state)
{
	(void)state;
	launch_free(NULL);
	launch_words_free(NULL);
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_behind_the_users_own),
		cmocka_unit_test(test_an_untouched_guest), cmocka_unit_test(test_the_plugin_and_its_arguments),
		cmocka_unit_test(test_ids_do_not_clash),
		cmocka_unit_test(test_microvm_has_no_pci),
		cmocka_unit_test(test_counted_instructions_stay_repeatable),
		cmocka_unit_test(test_a_port_that_is_there_is_used),
		cmocka_unit_test(test_daemon_is_refused),
		cmocka_unit_test(test_not_installed),
		cmocka_unit_test(test_early_end_tells_its_last_line),
		cmocka_unit_test(test_folder_is_private_and_goes),
		cmocka_unit_test(test_stubborn_one_is_killed),
		cmocka_unit_test(test_a_socket_that_listens_late_is_awaited),
		cmocka_unit_test(test_free_of_nothing),
	};

	if (count > 3)
		act(words[1], words[3]);

	return cmocka_run_group_tests(tests, NULL, NULL);
}
