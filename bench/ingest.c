/* SPDX-License-Identifier: MIT */
/*
 * Compares two readers of a unix socket on one core: one takes the bytes into the store, the other does nothing with
 * them. A writer has the other core: a program that is started, since after a fork both sides would copy pages. Both
 * run by turns. Prints the median of each, by the reader's processor time, which is what one core can do, by the part
 * of it that is its own and not the system's, and by the clock, which includes the reader's waiting.
 */
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/port_socket.h"
#include "tests/unit/fakes/packets.h"
#include "intake.h"
#include "setup.h"

enum { READER_CORE = 1, WRITER_CORE = 0, READ = 262144, READS = 8, RUNS_MAX = 99 };

/* How long a reader takes for all bytes. */
enum time { CORE, USER, WALL, TIMES };

/* What the guest sends, in a file without a name. `size`: of it. */
static int all_bytes(struct traffic *traffic, uint64_t samples, size_t *size)
{
	struct packets *packets = traffic_bytes(traffic);
	int file = memfd_create("bytes", MFD_CLOEXEC);

	traffic_hello(traffic);
	for (*size = 0;; traffic_turn(traffic)) {
		if (write(file, packets->bytes, packets->size) != (ssize_t)packets->size)
			exit(1);
		*size += packets->size;
		packets->size = 0;
		if (traffic_samples(traffic) >= samples)
			return file;
	}
}

/* Copies its standard input to its output as QEMU does: one buffer of the guest at a time. */
static int write_all(void)
{
	static uint8_t buffer[KTOP_PACKET_MAX];
	ssize_t got;

	setup_pin(WRITER_CORE);
	while ((got = read(0, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0, went; at < got; at += went)
			if ((went = write(1, buffer + at, (size_t)(got - at))) < 0)
				return 1;
	return got < 0;
}

static pid_t start_writer(int file, int socket)
{
	static char name[] = "ingest", what[] = "write";
	char *const words[] = { name, what, NULL };
	posix_spawn_file_actions_t actions;
	pid_t writer;

	lseek(file, 0, SEEK_SET);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, file, 0);
	posix_spawn_file_actions_adddup2(&actions, socket, 1);
	if (posix_spawn(&writer, "/proc/self/exe", &actions, NULL, words, NULL) != 0)
		exit(1);
	posix_spawn_file_actions_destroy(&actions);
	return writer;
}

static void *read_nothing(int fd, uint8_t *buffer)
{
	while (read(fd, buffer, READ) > 0)
		;
	return NULL;
}

/* Reads as a session does: waits, then reads until nothing is left, or until others had to have a turn. */
static void *read_ktop(int fd, uint8_t *buffer)
{
	struct intake *intake = intake_new(NULL, NULL);
	struct port_socket *socket = port_socket_from_fd(dup(fd));
	struct pollfd ready = { .fd = port_socket_wakeup(socket, 0), .events = POLLIN };
	ssize_t got = 1;

	while (got >= 0) {
		poll(&ready, 1, -1);
		for (int i = 0; i < READS && (got = port_socket_read(socket, buffer, READ)) > 0; i++)
			intake_feed(intake, buffer, (size_t)got);
	}
	port_socket_free(socket);
	return intake;
}

static double user_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

/* `seconds`: TIMES of them, from the arrival of the first byte until the last one is handled. */
static struct intake *time_reader(int file, void *(*reader)(int, uint8_t *), double *seconds)
{
	uint8_t *buffer = util_alloc(READ);
	struct pollfd ready = { .events = POLLIN };
	struct intake *intake;
	uint64_t begin, spent;
	double user;
	int fds[2];
	pid_t writer;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		exit(1);
	writer = start_writer(file, fds[1]);
	close(fds[1]);
	ready.fd = fds[0];
	poll(&ready, 1, -1);
	begin = util_now();
	spent = setup_spent();
	user = user_seconds();
	intake = reader(fds[0], buffer);
	seconds[CORE] = (double)(setup_spent() - spent) / (double)NS_PER_SECOND;
	seconds[USER] = user_seconds() - user;
	seconds[WALL] = (double)(util_now() - begin) / (double)NS_PER_SECOND;
	close(fds[0]);
	waitpid(writer, NULL, 0);
	free(buffer);
	return intake;
}

int main(int argc, char **argv)
{
	static const char *const names[TIMES] = { "core", "user", "wall" };
	double ktop[TIMES][RUNS_MAX], nothing[TIMES][RUNS_MAX], seconds[TIMES];
	struct setup setup;
	struct world *world;
	struct traffic *traffic;
	uint64_t samples;
	size_t size;
	uint32_t runs;
	int file;

	if (argc == 2 && strcmp(argv[1], "write") == 0)
		return write_all();
	setup = setup_parse(argc, argv);
	runs = setup.runs < RUNS_MAX ? setup.runs : RUNS_MAX;
	world = world_new(&setup.world);
	traffic = traffic_new(world, &setup.traffic);
	file = all_bytes(traffic, setup.samples, &size);
	samples = traffic_samples(traffic);
	traffic_free(traffic);
	world_free(world);
	setup_pin(READER_CORE);
	for (uint32_t i = 0; i < runs; i++) {
		struct intake *intake;

		time_reader(file, read_nothing, seconds);
		for (int time = 0; time < TIMES; time++)
			nothing[time][i] = seconds[time];
		intake = time_reader(file, read_ktop, seconds);
		for (int time = 0; time < TIMES; time++)
			ktop[time][i] = seconds[time];
		intake_check(intake, samples);
		intake_free(intake);
	}
	for (int time = 0; time < TIMES; time++) {
		const char *draw = setup.world.zipf ? "zipf" : "even", *name = names[time];
		double busy = setup_median(ktop[time], runs), idle = setup_median(nothing[time], runs);

		printf("ingest_%s_%s_rate\t%.2f\tmillion samples/s\n", draw, name, (double)samples / busy / 1e6);
		if (time == USER)	/* only to read is the system's work */
			continue;
		printf("read_%s_%s_rate\t%.2f\tmillion samples/s\n", draw, name, (double)samples / idle / 1e6);
		printf("read_%s_%s_bytes\t%.0f\tMB/s\n", draw, name, (double)size / idle / 1e6);
		printf("ingest_%s_%s_share\t%.1f\t%%\n", draw, name, 100 * idle / busy);
	}
	close(file);
	return 0;
}
