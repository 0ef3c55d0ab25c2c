/* SPDX-License-Identifier: MIT */
/*
 * Debug files from servers: a real debuginfod, and fake ones that never answer, or send no debug file, or
 * one of another build. All run on this machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/names/dwarf/line_worker.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/debug_file.h"
#include "tests/unit/clock.h"
#include "tests/unit/fakes/scratch.h"

static const char source[] = "int twice(int x)\n{\n\treturn x + x;\n}\nvoid _start(void)\n{\n}\n";

static const struct build_id mine = { 4, { 0xab, 0x11, 0x22, 0x33 } };

/* Builds `name`, with DWARF. */
static void build(const char *name, const char *id)
{
	char *command = util_format("mkdir -p store && gcc -O0 -g -nostdlib -ffreestanding -static "
		"-Wl,--build-id=0x%s -Wl,-Ttext=0x401000 -o %s twice.c", id, name);

	scratch_text("twice.c", source);
	scratch_run(command);
	free(command);
}

/* A socket that listens on the loopback; its port is put into the list of servers. */
static int listen_here(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *url;

	assert_int_equal(bind(server, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(server, 8), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &size), 0);
	url = util_format("http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	free(url);
	return server;
}

/* Gives each test its own cache. */
static void new_cache(void)
{
	scratch_run("rm -rf cache");
	setenv("DEBUGINFOD_CACHE_PATH", scratch_path("cache"), 1);
}

/* Answers each request with these bytes, until it is killed. */
static pid_t serve(const char *bytes, size_t size)
{
	int server = listen_here(), client;
	pid_t pid = fork();
	char request[4096];

	if (pid != 0) {
		close(server);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((client = accept(server, NULL, NULL)) >= 0) {
		if (read(client, request, sizeof(request)) > 0) {
			dprintf(client, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
				"Connection: close\r\n\r\n", size);
			for (ssize_t put = 0; size && put >= 0 && (size_t)put < size;) {
				ssize_t more = write(client, bytes + put, size - (size_t)put);

				put = more < 0 ? -1 : put + more;
			}
		}
		close(client);
	}
	_exit(0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static const struct debug_object object = {
	.kind = DEBUG_KERNEL, .fd = -1, .build_id = { 4, { 0xab, 0x11, 0x22, 0x33 } },
};

static struct line_worker *new_worker(void)
{
	struct line_worker *worker = line_worker_new(NULL);

	new_cache();
	line_worker_set(worker, &(struct debug_folders) { .own = NULL }, true);
	return worker;
}

static struct line_answer ask(struct line_worker *worker)
{
	struct line_answer answer;

	assert_true(line_worker_ask(worker, &(struct line_question) {
		.object = &object, .address = 0x401000 }));
	while (!line_worker_take(worker, &answer))
		usleep(1000);
	return answer;
}

/* Asks until the answer is no longer `later`. */
static char *await_line(struct line_worker *worker)
{
	struct line_answer answer;

	while ((answer = ask(worker)).later) {
		assert_null(answer.text);
		usleep(1000);
	}
	return answer.text;
}

static void expect_none(const char *bytes, size_t size, const char *remark)
{
	pid_t server = serve(bytes, size);
	struct line_worker *worker = new_worker();
	char note[256];

	assert_null(await_line(worker));
	line_worker_note(worker, note, sizeof(note));
	if (!strstr(note, remark))
		fail_msg("%s", note);
	line_worker_free(worker);
	end(server);
}

static void test_what_is_no_debug_file(void **state)
{
	char *bytes;
	size_t size;

	(void)state;
	expect_none("no ELF file", 11, "not a debug file");
	build("other", "cd112233");
	bytes = scratch_read(scratch_path("other"), &size);
	expect_none(bytes, size, "another build");
	expect_none(bytes, size / 2, "not a debug file");
	free(bytes);
}

static bool has_children(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

/* Other questions are answered meanwhile, and the end does not wait for the server. */
static void test_a_server_that_never_answers(void **state)
{
	int server = listen_here();
	struct line_worker *worker = new_worker();
	struct line_answer answer;
	char note[256];

	(void)state;
	for (int i = 0; i < 100; i++) {
		answer = ask(worker);
		assert_true(answer.later);
		assert_null(answer.text);
	}
	assert_non_null(strstr(line_worker_note(worker, note, sizeof(note)), "is asked"));
	assert_true(has_children());
	line_worker_free(worker);
	assert_false(has_children());
	close(server);
}

static void test_nobody_to_ask(void **state)
{
	char *path = util_copy(getenv("PATH"), strlen(getenv("PATH"))), *error = NULL;
	struct debuginfod *debuginfod = debuginfod_new();
	const struct build_id none = { 0 };
	const char *found = NULL;

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_false(debuginfod_possible(&error));
	assert_non_null(strstr(error, "DEBUGINFOD_URLS is not set"));
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
	assert_true(debuginfod_possible(NULL));
	assert_int_equal(debuginfod_find(debuginfod, &none, &found), DEBUGINFOD_NONE);
	setenv("PATH", "/nonexistent", 1);
	while (debuginfod_find(debuginfod, &mine, &found) == DEBUGINFOD_ASKING)
		usleep(1000);
	assert_int_equal(debuginfod_find(debuginfod, &mine, &found), DEBUGINFOD_NONE);
	debuginfod_free(debuginfod);
	debuginfod_free(NULL);
	setenv("PATH", path, 1);
	free(path);
	free(error);
}

/* ---- source files ---- */

/* Asks for the code of the program until nothing more comes. */
static struct code_lines *await_code(struct line_worker *worker, const struct debug_object *program)
{
	struct line_answer answer = { .later = true };

	while (answer.later) {
		assert_true(line_worker_ask(worker, &(struct line_question) {
			.object = program, .address = 0x401000, .end = 0x401010, .wanted = LINE_CODE }));
		while (!line_worker_take(worker, &answer))
			usleep(1000);
		assert_non_null(answer.code);
		if (answer.later)
			line_answer_clear(&answer);
	}
	return answer.code;
}

/* The program's file is here, but its source is in a folder that is not: a server has it, or sends anything at all. */
static void test_a_source_file(void **state)
{
	pid_t server = serve(source, strlen(source));
	struct line_worker *worker = new_worker();
	struct debug_object program = object;
	struct code_lines *lines;
	char *bytes;
	size_t size;

	(void)state;
	scratch_text("twice.c", source);
	scratch_run("gcc -O0 -g -nostdlib -ffreestanding -static -Wl,--build-id=0xab112233 -Wl,-Ttext=0x401000 "
		"-fdebug-prefix-map=$PWD=/nowhere -o here twice.c");
	program.fd = open(scratch_path("here"), O_RDONLY | O_CLOEXEC);
	lines = await_code(worker, &program);
	assert_string_equal(lines->files[code_lines_own(lines)], "/nowhere/twice.c");
	assert_non_null(lines->fetched);
	bytes = scratch_read(lines->fetched, &size);
	assert_int_equal(size, strlen(source));
	assert_memory_equal(bytes, source, size);
	free(bytes);
	code_lines_free(lines);
	end(server);
	line_worker_free(worker);

	worker = new_worker();			/* nobody has it */
	lines = await_code(worker, &program);
	assert_null(lines->fetched);
	code_lines_free(lines);
	line_worker_free(worker);
	close(program.fd);
}

static void test_what_is_no_path(void **state)
{
	static const char *const paths[] = { "", "twice.c", "-v", "/a b", "/a?b", "/a%2fb", "/a\nb", "/a#b", "/\xff" };
	struct debuginfod *debuginfod = debuginfod_new();
	const char *found = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_int_equal(debuginfod_find_source(debuginfod, &mine, paths[i], &found), DEBUGINFOD_NONE);
	debuginfod_free(debuginfod);
}

/* The server finds the file at its path on its own disk. */
static void expect_source(const char *path)
{
	struct debuginfod *debuginfod = debuginfod_new();
	const char *found = NULL;
	enum debuginfod_state now;
	char *bytes;
	size_t size;

	new_cache();
	while ((now = debuginfod_find_source(debuginfod, &mine, path, &found)) == DEBUGINFOD_ASKING)
		usleep(1000);
	assert_int_equal(now, DEBUGINFOD_FOUND);
	bytes = scratch_read(found, &size);
	assert_int_equal(size, strlen(source));
	free(bytes);
	debuginfod_free(debuginfod);
}

/* A real debuginfod over the folder `store`; its port was free a moment before. */
static pid_t start_real(void)
{
	char *port, *folder = util_copy(scratch_path("store"), strlen(scratch_path("store")));
	pid_t pid;

	close(listen_here());
	port = util_format("%s", strrchr(getenv("DEBUGINFOD_URLS"), ':') + 1);
	pid = fork();
	if (pid == 0) {
		int log = open(scratch_path("server.log"), O_WRONLY | O_CREAT, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unsetenv("DEBUGINFOD_URLS");
		dup2(log, 1);
		dup2(log, 2);
		execlp("debuginfod", "debuginfod", "-p", port, "-d", ":memory:", "-F", folder,
			(char *)NULL);
		_exit(127);
	}
	free(folder);
	free(port);
	return pid;
}

static void expect_line(const char *expected)
{
	struct line_worker *worker = new_worker();
	char *line = await_line(worker), note[256];

	assert_non_null(line);
	assert_string_equal(line, expected);
	assert_string_equal(line_worker_note(worker, note, sizeof(note)), "");
	free(line);
	line_worker_free(worker);
}

static void test_a_real_server(void **state)
{
	pid_t server;

	(void)state;
	build("store/program", "ab112233");
	server = start_real();
	do {				/* it scans its folder first */
		usleep(50000);
		new_cache();
	} while (system("debuginfod-find debuginfo ab112233 >/dev/null 2>&1") != 0);
	expect_line("twice.c:2");
	expect_source(scratch_path("twice.c"));
	end(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_debug_file),
		cmocka_unit_test(test_a_server_that_never_answers),
		cmocka_unit_test(test_nobody_to_ask),
		cmocka_unit_test(test_a_source_file),
		cmocka_unit_test(test_what_is_no_path),
		cmocka_unit_test(test_a_real_server),
	};

	clock_beside();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
