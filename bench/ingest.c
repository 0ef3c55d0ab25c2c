/* SPDX-License-Identifier: MIT */
/*
 * Compares two readers of a unix socket on one core: one takes the bytes into the store, the other does nothing with
 * them. A writer has the other core. Both run by turns. Prints the median of each, by the reader's processor time,
 * which is what one core can do, and by the clock, which includes the reader's waiting.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/port_socket.h"
#include "tests/unit/fakes/packets.h"
#include "intake.h"
#include "setup.h"

enum { READER_CORE = 1, WRITER_CORE = 0, READ = 262144, READS = 8, RUNS_MAX = 99 };

static struct packets *all_bytes(struct traffic *traffic, uint64_t samples)
{
	traffic_hello(traffic);
	while (traffic_samples(traffic) < samples)
		traffic_turn(traffic);
	return traffic_bytes(traffic);
}

/* Writes as QEMU does: one buffer of the guest at a time. */
static void write_all(int fd, const struct packets *packets)
{
	for (size_t at = 0; at < packets->size;) {
		size_t left = packets->size - at;
		ssize_t went = write(fd, packets->bytes + at,
			left < KTOP_PACKET_MAX ? left : KTOP_PACKET_MAX);

		if (went < 0)
			exit(1);
		at += (size_t)went;
	}
	exit(0);
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
	struct intake *intake = intake_new(NULL);
	struct port_socket *socket = port_socket_from_fd(dup(fd));
	struct pollfd ready = { .fd = port_socket_fd(socket), .events = POLLIN };
	ssize_t got = 1;

	while (got >= 0) {
		poll(&ready, 1, -1);
		for (int i = 0; i < READS && (got = port_socket_read(socket, buffer, READ)) > 0; i++)
			intake_feed(intake, buffer, (size_t)got);
	}
	port_socket_free(socket);
	return intake;
}

/* Seconds from the arrival of the first byte until the last one is handled. */
struct seconds {
	double processor, wall;
};

static struct seconds time_reader(const struct packets *packets, void *(*reader)(int, uint8_t *),
	struct intake **intake)
{
	uint8_t *buffer = util_alloc(READ);
	struct pollfd ready = { .events = POLLIN };
	struct seconds seconds;
	uint64_t begin, spent;
	int fds[2];
	pid_t writer;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 || (writer = fork()) < 0)
		exit(1);
	if (writer == 0) {
		setup_pin(WRITER_CORE);
		close(fds[0]);
		write_all(fds[1], packets);
	}
	close(fds[1]);
	ready.fd = fds[0];
	poll(&ready, 1, -1);
	begin = util_now();
	spent = setup_spent();
	*intake = reader(fds[0], buffer);
	seconds.processor = (double)(setup_spent() - spent) / (double)NS_PER_SECOND;
	seconds.wall = (double)(util_now() - begin) / (double)NS_PER_SECOND;
	close(fds[0]);
	waitpid(writer, NULL, 0);
	free(buffer);
	return seconds;
}

/* Prints the medians of one of the two times, for both readers. */
struct medians {
	double ktop, nothing;
};

static void print(const char *draw, const char *time, double samples, double bytes,
	const struct medians *medians)
{
	printf("ingest_%s_%s_rate\t%.2f\tmillion samples/s\n", draw, time,
		samples / medians->ktop / 1e6);
	printf("read_%s_%s_rate\t%.2f\tmillion samples/s\n", draw, time,
		samples / medians->nothing / 1e6);
	printf("read_%s_%s_bytes\t%.0f\tMB/s\n", draw, time, bytes / medians->nothing / 1e6);
	printf("ingest_%s_%s_share\t%.1f\t%%\n", draw, time,
		100 * medians->nothing / medians->ktop);
}

int main(int argc, char **argv)
{
	struct setup setup = setup_parse(argc, argv);
	struct world *world = world_new(&setup.world);
	struct traffic *traffic = traffic_new(world, &setup.traffic);
	const struct packets *packets = all_bytes(traffic, setup.samples);
	double ktop[2][RUNS_MAX], nothing[2][RUNS_MAX], samples = (double)traffic_samples(traffic);
	const char *const times[] = { "core", "wall" };
	uint32_t runs = setup.runs < RUNS_MAX ? setup.runs : RUNS_MAX;

	setup_pin(READER_CORE);
	for (uint32_t i = 0; i < runs; i++) {
		struct intake *intake;
		struct seconds idle = time_reader(packets, read_nothing, &intake);
		struct seconds busy = time_reader(packets, read_ktop, &intake);

		nothing[0][i] = idle.processor;
		nothing[1][i] = idle.wall;
		ktop[0][i] = busy.processor;
		ktop[1][i] = busy.wall;
		intake_check(intake, traffic_samples(traffic));
		intake_free(intake);
	}
	for (int i = 0; i < 2; i++)
		print(setup.world.zipf ? "zipf" : "even", times[i], samples, (double)packets->size,
			&(struct medians) { setup_median(ktop[i], runs),
				setup_median(nothing[i], runs) });
	traffic_free(traffic);
	world_free(world);
	return 0;
}
