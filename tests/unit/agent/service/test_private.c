/* SPDX-License-Identifier: MIT */
/* Files and sockets of a live ktop are its user's alone, whatever the umask is. It listens on no network. */
#include <dirent.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/export/export_folded.h"
#include "agent/service/service.h"
#include "agent/session/session.h"
#include "agent/session/capture.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

static int visited;

/* Sockets are not checked: a socket is as private as its folder. */
static int check_mode(const char *path, const struct stat *is, int kind, struct FTW *place)
{
	(void)kind;
	(void)place;
	visited++;
	if (!S_ISSOCK(is->st_mode) && (is->st_mode & 0777) != (S_ISDIR(is->st_mode) ? 0700 : 0600))
		fail_msg("%s: mode %o", path, is->st_mode & 0777);
	return 0;
}

static void check_private(const char *path, int least)
{
	visited = 0;
	assert_int_equal(nftw(path, check_mode, 8, FTW_PHYS), 0);
	assert_true(visited >= least);
}

/* All sockets of this process are local, and so many of them listen. */
static void check_sockets(int listening)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int listeners = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		int fd = atoi(entry->d_name), domain = AF_UNIX, listens = 0;
		socklen_t size = sizeof(int);

		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0) {
			size = sizeof(int);
			getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
		}
		assert_int_equal(domain, AF_UNIX);
		listeners += listens != 0;
	}
	closedir(folder);
	assert_int_equal(listeners, listening);
}

static void test_live(void **state)
{
	char *raw = util_format("%s", scratch_path("raw")), *error = NULL;
	char *saved = util_format("%s", scratch_path("saved.folded"));
	struct fixture fixture = fixture_begin(&(struct session_options) { 0 });
	struct service *service = service_new(fixture.session, fixture.port, &error);

	struct capture *capture;

	(void)state;
	assert_non_null(service);
	assert_true(recording_folder(raw, &error));
	capture = capture_new(fixture.session, &(struct recording_options) { .folder = raw });
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	service_step(service);
	session_snapshot(fixture.session, saved, &answers_all, &(struct export_choice) { .format = &export_folded });
	fixture_await_message(&fixture, false, saved);
	check_sockets(2);		/* the control socket, and the fake QEMU's */
	check_private(scratch_path("runtime/ktop"), 2);
	check_private(saved, 1);
	assert_true(capture_close(capture, &error));
	check_private(raw, 4);
	service_free(service);
	fixture_end(&fixture);
	free(saved);
	free(raw);
}

/* The folder of the control sockets is refused if others could write or read it. */
static void test_folder_of_others(void **state)
{
	const char *vm = scratch_text("vm", "");
	char *error = NULL;

	(void)state;
	scratch_run("mkdir -p runtime/ktop && chmod 750 runtime/ktop");
	assert_null(control_socket_path(vm, &error));
	assert_non_null(strstr(error, "is not a private folder of this user; remove it"));
	free(error);
	scratch_run("rm -rf runtime/ktop && mkdir -m 700 other && ln -s ../other runtime/ktop");
	assert_null(control_socket_path(vm, &error));
	free(error);
	scratch_run("rm runtime/ktop");
	if (getuid() == 0) {
		scratch_run("mkdir -m 700 runtime/ktop && chown 1 runtime/ktop");
		assert_null(control_socket_path(vm, &error));
		free(error);
		scratch_run("rmdir runtime/ktop");
	}
	free(control_socket_path(vm, &error));
	check_private(scratch_path("runtime/ktop"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_folder_of_others),
	};

	umask(0);
	mkdir(scratch_path("runtime"), 0700);
	setenv("XDG_RUNTIME_DIR", scratch_path("runtime"), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
