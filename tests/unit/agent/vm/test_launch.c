/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/wakeup.h"
#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/vm/console/console.h"
#include "agent/vm/launch.h"
#include "tests/unit/fakes/scratch.h"

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

/* Something with these words is added. */
static void check_has(const struct launch_extra *extra, const char *given, const char *wanted)
{
	char *copy = util_copy(given, strlen(given)), *words[WORDS], *line;
	size_t count = split(copy, words);
	char **all = launch_words(words, count, extra, "/d", NULL);

	line = join(all);
	if (!strstr(line, wanted))
		fail_msg("%s: not in %s", wanted, line);
	free(line);
	launch_words_free(all);
	free(copy);
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

/* A guest that prints at once must not print on a pty that nobody has opened yet. */
static void test_a_guest_on_a_pty_waits(void **state)
{
	(void)state;
	check_line_with(&nothing, "q -serial pty", "q -serial pty -qmp unix:/d/qmp,server=on,wait=off -S");
	check_line_with(&nothing, "q -S -serial mon:pty", "q -S -serial mon:pty -qmp unix:/d/qmp,server=on,wait=off");
	check_line_with(&nothing, "q --chardev pty,id=c",
		"q --chardev pty,id=c -qmp unix:/d/qmp,server=on,wait=off -S");
	check_line_with(&nothing, "q -kernel pty", "q -kernel pty -qmp unix:/d/qmp,server=on,wait=off");
}

static void test_a_machine_without_a_window(void **state)
{
	static const struct { const char *line; bool needs, needs_headless; } cases[] = {
		{ "qemu-system-x86_64 -m 64", true, false }, { "/usr/bin/qemu-system-arm", true, false },
		{ "nice -n 5 qemu-system-x86_64", true, false },
		{ "qemu-system-x86_64 -display gtk,gl=on", true, true }, { "./start -display sdl", true, true },
		{ "qemu-system-x86_64 -sdl", true, true },
		{ "qemu-system-x86_64 -display none", false, false },
		{ "qemu-system-x86_64 --nographic", false, false }, { "qemu-system-x86_64 -vnc :1", false, false },
		{ "qemu-system-x86_64 -display curses", false, false },
		{ "./start -m 64", false, false },	/* it may add anything */
	};
	const struct launch_extra headless = { .headless = true };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *copy = util_copy(cases[i].line, strlen(cases[i].line)), *words[WORDS];
		size_t count = split(copy, words);

		assert_int_equal(launch_needs_display(words, count, false), cases[i].needs);
		assert_int_equal(launch_needs_display(words, count, true), cases[i].needs_headless);
		free(copy);
	}
	check_line_with(&headless, "q", "q -qmp unix:/d/qmp,server=on,wait=off -display none");
	check_line_with(&headless, "q -nographic", "q -nographic -qmp unix:/d/qmp,server=on,wait=off");
	check_line_with(&headless, "q -vnc :1", "q -vnc :1 -qmp unix:/d/qmp,server=on,wait=off");
}

/* Where nothing of QEMU's is on its terminal, nobody reads what is typed. */
static void test_who_reads_what_is_typed(void **state)
{
	static const struct { const char *line; bool takes; } cases[] = {
		{ "qemu-system-x86_64 -display none", false }, { "qemu-system-x86_64", false },
		{ "qemu-system-x86_64 -display none -serial file:/stdi/o", false },
		{ "/usr/bin/qemu-system-arm -nographic -nodefaults", false },
		{ "qemu-system-x86_64 -nographic", true }, { "qemu-system-x86_64 -serial stdio", true },
		{ "qemu-system-x86_64 -display none -serial mon:stdio", true },
		{ "qemu-system-x86_64 -chardev stdio,id=a -serial chardev:a", true },
		{ "qemu-system-x86_64 -serial pty", true }, { "qemu-system-x86_64 -display curses", true },
		{ "./run-my-vm", true }, { "env qemu-system-x86_64 -vnc :1", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *copy = util_format("%s", cases[i].line), *words[16];
		size_t count = split(copy, words);

		assert_int_equal(launch_takes_typing(words, count), cases[i].takes);
		free(copy);
	}
}

static void test_daemon_is_refused(void **state)
{
	char name[] = "q", option[] = "-daemonize", *words[] = { name, option }, *error = NULL;

	(void)state;
	assert_null(launch_words(words, 2, &nothing, "/d", &error));
	assert_non_null(strstr(error, "-daemonize"));
	free(error);
}

/* What an option's value is tells, not what a path contains. */
static void test_paths_are_no_options(void **state)
{
	static const char added[] = " -qmp unix:/d/qmp,server=on,wait=off";
	static const char *const plain[] = {
		"q -drive file=/vm/virtio-serial/disk.img", "q -kernel virtio-serial-pci",
		"q -device x,driver=y,virtio=1",
		"q -device virtio-net,romfile=/virtio-serial",
	};
	static const char *const serial[] = {
		"q -device virtio-serial", "q --device driver=virtio-serial-device,id=a",
		"q -device {\"driver\":\"virtio-serial-pci\"}", "q -device virtio-serial -drive file=/name=org.ktop.0",
	};
	static const char *const pci[] = { "q -machine q35,firmware=/microvm", "q -M pc -kernel /microvm" };
	static const char *const micro[] = { "q --machine type=microvm", "q -M acpi=off,type=microvm", "q -M microvm" };

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		char *wanted = util_format("%s%s", plain[i], added);

		check_line_with(&nothing, plain[i], wanted);
		free(wanted);
	}
	for (size_t i = 0; i < sizeof(serial) / sizeof(serial[0]); i++)
		check_has(&nothing, serial[i], "virtio-serial-pci,id=ktop-run-bus");
	for (size_t i = 0; i < sizeof(pci) / sizeof(pci[0]); i++)
		check_has(&hook, pci[i], "virtio-serial-pci,id=ktop-run-bus");
	for (size_t i = 0; i < sizeof(micro) / sizeof(micro[0]); i++)
		check_has(&hook, micro[i], "virtio-serial-device,id=ktop-run-bus");
}

/* What a program has printed is on its way to ktop, unseen by the clock: it is waited for without an end. */
void __real_console_drain(struct console *console, int wait_ms);
void __wrap_console_drain(struct console *console, int wait_ms);
void __wrap_console_drain(struct console *console, int wait_ms)
{
	assert_true(wait_ms > 0);
	__real_console_drain(console, -1);
}

/* ---- programs in place of QEMU: a shell, or this program; the added options are further arguments ---- */

static const struct launch_wait patient = { .timeout_ms = START_MS };

static struct launch *launch_by(const char *script, const struct launch_wait *wait, char **error)
{
	char shell[] = "sh", option[] = "-c", *text = util_copy(script, strlen(script)),
		name[] = "sh";
	char *words[] = { shell, option, text, name };
	bool by_plugin;
	struct launch *launch = launch_new(words, 4, &hook, wait, &by_plugin, error);

	free(text);
	return launch;
}

/* The process id that it prints. */
static pid_t printed_pid(struct launch *launch)
{
	struct wakeup *wakeup = wakeup_new();
	char *said;
	pid_t pid;

	console_listen(launch_console(launch), wakeup);
	while (!*(said = launch_last_words(launch))) {
		free(said);
		assert_int_equal(poll(&(struct pollfd) { .fd = wakeup_fd(wakeup), .events = POLLIN }, 1, -1), 1);
		wakeup_clear(wakeup);
	}
	console_listen(launch_console(launch), NULL);
	pid = atoi(said);
	assert_true(pid > 0);
	free(said);
	wakeup_free(wakeup);
	return pid;
}

/* This program, in the role that act() plays. */
static struct launch *launch_self(const char *how, char **error)
{
	char self[] = "/proc/self/exe", *act = util_copy(how, strlen(how)), *words[] = { self, act };
	bool by_plugin;
	struct launch *launch = launch_new(words, 2, &hook, &patient, &by_plugin, error);

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
	if (strncmp(how, "exits", strlen("exits")) == 0 && accept(fd, NULL, NULL) >= 0)
		_exit(atoi(how + strlen("exits")));
	if (strncmp(how, "cleans", strlen("cleans")) == 0 && accept(fd, NULL, NULL) >= 0 && close(fd) == 0)
		_exit(read(atoi(how + strlen("cleans")), &address, 1) == 1 ? 0 : 1);
	if (strcmp(how, "stops") == 0)
		raise(SIGSTOP);
	for (;;)
		pause();
}

static void test_not_installed(void **state)
{
	char name[] = "no-such-qemu-here", *words[] = { name }, *error = NULL;
	bool by_plugin;

	(void)state;
	assert_null(launch_new(words, 1, &hook, &patient, &by_plugin, &error));
	assert_false(by_plugin);
	assert_non_null(strstr(error, "no-such-qemu-here: not started: No such file"));
	free(error);
}

static void test_early_end_tells_its_last_line(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(launch_by("echo first; echo 'sh: bad option' >&2; echo; exit 3", &patient, &error));
	assert_string_equal(error, "sh ended with status 3: it said: sh: bad option; check its command line, and that "
		"it passes to QEMU all that ktop puts behind its own arguments, such as -qmp");
	free(error);
}

/* A program of this name: make, QEMU itself. */
static void check_end(const char *name, const char *script, const char *option, bool about_plugin, const char *wanted)
{
	char *path = util_copy(scratch_text(name, script), strlen(scratch_text(name, script)));
	char device[] = "-device", *value = util_copy(option, strlen(option)), *words[] = { path, device, value };
	char *error = NULL;
	bool by_plugin;

	assert_int_equal(chmod(path, 0700), 0);
	assert_null(launch_new(words, 3, &nothing, &patient, &by_plugin, &error));
	if (!strstr(error, wanted))
		fail_msg("%s: %s", name, error);
	assert_int_equal(by_plugin, about_plugin);
	free(error);
	free(value);
	free(path);
}

/* make behind programs that start it, with options and values of their own, and before QEMU is named. */
static void test_make_behind_others(void **state)
{
	static const struct { const char *line; bool make; } cases[] = {
		{ "env A=b make qemu", true }, { "env -u A nice -n 5 gmake -C x", true }, { "timeout 20 make", true },
		{ "nice -n 1 make qemu", true }, { "env A=b sh make.sh", false }, { "env qemu-none make", false },
	};
	char *path = util_format("%s:/usr/bin:/bin", scratch_path(""));

	(void)state;
	scratch_text("make", "#!/bin/sh\nexit 2\n");
	scratch_run("chmod 700 make && ln -sf make gmake");
	setenv("PATH", path, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *line = util_format("%s", cases[i].line), *words[16], *error = NULL;
		size_t count = 0;
		bool by_plugin;

		for (char *at = strtok(line, " "); at; at = strtok(NULL, " "))
			words[count++] = at;
		assert_null(launch_new(words, count, &nothing, &patient, &by_plugin, &error));
		if (!strstr(error, "make took the options") == cases[i].make)
			fail_msg("%s: %s", cases[i].line, error);
		free(error);
		free(line);
	}
	free(path);
}

/* Only a QEMU that refuses the plugin is started without it. */
static void test_an_early_end_tells_why(void **state)
{
	(void)state;
	check_end("make", "#!/bin/sh\nexit 1\n", "x", false, "make ended with status 1: it said nothing; make took the "
		"options that ktop adds");
	check_end("make", "#!/bin/sh\necho all\n", "x", false, "make ended with status 0: it said: all; make took");
	check_end("qemu-x", "#!/bin/sh\necho '-plugin: invalid option'\nexit 1\n", "x", true, "check its command line");
	check_end("qemu-x", "#!/bin/sh\nexit 1\n", "x", false, "qemu-x ended with status 1: it said nothing; check");
	check_end("qemu-x", "#!/bin/sh\nexit 33\n", "isa-debug-exit,iobase=0xf4", false,
		"QEMU ended at once; start it");
	check_end("qemu-x", "#!/bin/sh\necho QEMU 11\necho; echo by us\n", "x", false,
		"QEMU ended at once, with status 0: it printed:\n  QEMU 11\n  by us");
	check_end("qemu-x", "#!/bin/sh\nseq 100\n", "x", false, "it printed more than this; start it without ktop to "
		"see all:\n  1\n  2\n");
}

/* The guest ends QEMU by isa-debug-exit or the like: that is no failure. */
static void test_a_status_of_the_guest(void **state)
{
	static const struct { const char *how; bool fails; const char *end; } cases[] = {
		{ "exits0", false, "the VM has ended (its guest has switched it off, or QEMU was told to quit)" },
		{ "exits33", false, "the guest has ended the VM, with status 33" },
		{ "exits7", false, "the guest has ended the VM, with status 7" },
		{ "exits1", true, "QEMU has failed with status 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *error = NULL, *why, *how;
		struct launch *launch = launch_self(cases[i].how, &error);
		bool well;

		if (!launch)
			fail_msg("%s", error);
		why = launch_failure(launch, START_MS);
		assert_true(launch_ended(launch, 0));
		assert_int_equal(why != NULL, cases[i].fails);
		how = launch_end(launch, &well);
		assert_int_equal(well, !cases[i].fails);
		assert_string_equal(how, cases[i].end);
		free(how);
		free(why);
		launch_free(launch);
	}
}

/* ---- wrappers, which start QEMU as their child ---- */

/* Given up as soon as the file has a number, which is a process of the wrapper's. */
struct wrapped {
	const char *file;
	pid_t pid;
	unsigned asked_after;		/* how often it was asked after that */
};

static bool has_begun(void *context)
{
	struct wrapped *wrapped = context;
	FILE *file = fopen(wrapped->file, "r");
	int pid = 0;

	wrapped->asked_after += wrapped->pid != 0;
	if (file && fscanf(file, "%d.", &pid) == 1 && fgetc(file) == '\n')
		wrapped->pid = pid;
	if (file)
		fclose(file);
	return wrapped->pid;
}

static void check_gone(pid_t pid)
{
	assert_true(pid > 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* Whoever gives up is heeded at once, and nothing stays: no child, none that ignores SIGTERM, none in another group. */
static void test_given_up(void **state)
{
	static const char *const scripts[] = {
		"sleep 1000 & echo $!. >%s; wait", "trap '' TERM; sleep 1000 & echo $!. >%s; wait",
		"setsid sleep 1000 & echo $!. >%s; wait", "(trap '' TERM; sleep 1000 & echo $!. >%s; wait); true",
		"echo $$. >%s; exec sleep 1000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct wrapped wrapped = { .file = scratch_text("pid", "") };
		const struct launch_wait wait = { START_MS, has_begun, &wrapped };
		char *error = NULL, *script = util_format(scripts[i], wrapped.file);

		assert_null(launch_by(script, &wait, &error));
		assert_string_equal(error, "sh: not started: interrupted; start it again");
		assert_int_equal(wrapped.asked_after, 0);
		check_gone(wrapped.pid);
		free(error);
		free(script);
	}
}

/* A QEMU without the QMP socket would be waited for in vain. */
static void test_a_wrapper_that_hands_nothing_on(void **state)
{
	char *file = util_format("%s", scratch_text("pid", "")), *error = NULL, *script;
	struct wrapped wrapped = { .file = file };

	(void)state;
	assert_int_equal(symlink("/bin/sleep", scratch_path("qemu-system-x")), 0);
	script = util_format("%s 1000 & echo $!. >%s; wait", scratch_path("qemu-system-x"), file);
	assert_null(launch_by(script, &patient, &error));
	if (!strstr(error, "sh: -qmp is not handed on: it runs `") || !strstr(error, "qemu-system-x 1000` without it"))
		fail_msg("%s", error);
	assert_true(has_begun(&wrapped));
	check_gone(wrapped.pid);
	free(error);
	free(script);
	free(file);
}

/* QEMU is asked to end, though it is stopped. */
static void test_a_stopped_one_ends(void **state)
{
	char *error = NULL;
	struct launch *launch = launch_self("stops", &error);
	siginfo_t info;

	(void)state;
	if (!launch)
		fail_msg("%s", error);
	assert_int_equal(waitid(P_PID, (id_t)printed_pid(launch), &info, WSTOPPED | WNOWAIT), 0);
	launch_quit(launch);
	assert_true(launch_ended(launch, START_MS));
	launch_free(launch);
}

/* A wrapper whose QEMU has ended goes on until it has cleaned up. */
static void test_a_wrapper_cleans_up(void **state)
{
	int ends[2];
	char *error = NULL, *how;
	struct launch *launch;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	how = util_format("cleans%d", ends[0]);
	launch = launch_self(how, &error);
	if (!launch)
		fail_msg("%s", error);
	for (int fd; (fd = unix_socket_connect(launch_qmp(launch))) >= 0 || errno == EAGAIN;)
		if (fd >= 0)
			close(fd);
	launch_quit(launch);
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_true(launch_ended(launch, START_MS));
	error = launch_failure(launch, 0);
	if (error)
		fail_msg("%s", error);
	launch_free(launch);
	close(ends[0]);
	close(ends[1]);
	free(how);
}

/* A wrapper may end before its QEMU, which goes on in the background, as by -daemonize. */
static void test_what_a_wrapper_leaves_behind_ends(void **state)
{
	char *file = util_format("%s", scratch_text("pid", "")), *go = util_format("%s", scratch_path("go"));
	char self[4096] = "", *error = NULL, *script;
	struct wrapped wrapped = { .file = file };
	struct launch *launch;
	int fd;

	(void)state;
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_int_equal(mkfifo(go, 0600), 0);
	script = util_format("setsid %s stays \"$@\" & echo $!. >%s; read word <%s", self, file, go);
	launch = launch_by(script, &patient, &error);
	if (!launch)
		fail_msg("%s", error);
	fd = open(go, O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "\n", 1), 1);
	close(fd);
	assert_true(launch_ended(launch, START_MS));
	assert_true(has_begun(&wrapped));
	launch_free(launch);
	check_gone(wrapped.pid);
	free(script);
	free(file);
	free(go);
}

/* QEMU reads the sockets' paths as parts of options, and they are bounded: then they lie in /tmp. */
static void test_a_folder_that_does_not_fit(void **state)
{
	static const char *const names[] = {
		"a,b", "a=b", "a b", "a'b",
		"a-name-that-is-so-long-that-no-socket-in-such-a-folder-could-have-a-path-at-all",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *folder = scratch_path(names[i]);
		char *error = NULL;
		struct launch *launch;

		assert_int_equal(mkdir(folder, 0700), 0);
		setenv("XDG_RUNTIME_DIR", folder, 1);
		launch = launch_self("plain", &error);
		unsetenv("XDG_RUNTIME_DIR");
		if (!launch)
			fail_msg("%s: %s", names[i], error);
		assert_int_equal(strncmp(launch_qmp(launch), "/tmp/ktop-run-", strlen("/tmp/ktop-run-")), 0);
		launch_free(launch);
	}
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
	char *error = NULL;
	struct launch *launch = launch_self("stubborn", &error);
	pid_t pid;

	(void)state;
	if (!launch)
		fail_msg("%s", error);
	pid = printed_pid(launch);
	assert_int_equal(kill(pid, 0), 0);
	launch_free(launch);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* QEMU goes on, and nobody kills it; its folder stays locked, so that nobody takes it for one that was left behind. */
static void test_one_that_is_left_running(void **state)
{
	char *error = NULL, *folder, *text;
	struct launch *launch = launch_self("plain", &error);
	struct stat is;
	pid_t pid;
	int fd;

	(void)state;
	if (!launch)
		fail_msg("%s", error);
	pid = printed_pid(launch);
	folder = util_copy(launch_qmp(launch), strlen(launch_qmp(launch)) - strlen("/qmp"));
	text = launch_detach(launch);
	assert_non_null(strstr(text, folder));
	assert_int_equal(stat(folder, &is), 0);
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	launch_free(launch_self("plain", &error));		/* finds the folder, and removes it */
	assert_int_equal(stat(folder, &is), -1);
	free(folder);
	free(text);
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
		cmocka_unit_test(test_a_guest_on_a_pty_waits), cmocka_unit_test(test_a_machine_without_a_window),
		cmocka_unit_test(test_daemon_is_refused),
		cmocka_unit_test(test_who_reads_what_is_typed), cmocka_unit_test(test_paths_are_no_options),
		cmocka_unit_test(test_an_early_end_tells_why), cmocka_unit_test(test_a_status_of_the_guest),
		cmocka_unit_test(test_make_behind_others),
		cmocka_unit_test(test_given_up), cmocka_unit_test(test_a_wrapper_that_hands_nothing_on),
		cmocka_unit_test(test_a_stopped_one_ends), cmocka_unit_test(test_a_wrapper_cleans_up),
		cmocka_unit_test(test_what_a_wrapper_leaves_behind_ends),
		cmocka_unit_test(test_a_folder_that_does_not_fit),
		cmocka_unit_test(test_not_installed),
		cmocka_unit_test(test_early_end_tells_its_last_line),
		cmocka_unit_test(test_folder_is_private_and_goes),
		cmocka_unit_test(test_stubborn_one_is_killed),
		cmocka_unit_test(test_one_that_is_left_running),
		cmocka_unit_test(test_a_socket_that_listens_late_is_awaited),
		cmocka_unit_test(test_free_of_nothing),
	};

	if (count > 3)
		act(words[1], words[3]);

	return cmocka_run_group_tests(tests, NULL, NULL);
}
