/*
 * Bytes from a unix socket to the store on one core, against reading them and doing nothing; what
 * writes them has the other core. Rounds of both in turn, the median of each.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "intake.h"
#include "packets.h"
#include "setup.h"
#include "source.h"
#include "util.h"

enum { READER_CORE = 1, WRITER_CORE = 0, READ = 262144, READS = 8, RUNS_MAX = 99 };

static struct packets *all_bytes(struct stream *stream, uint64_t samples)
{
	stream_hello(stream);
	while (stream_samples(stream) < samples)
		stream_turn(stream);
	return stream_bytes(stream);
}

/* As QEMU does: a guest's buffer at a time. */
static void write_all(int fd, const struct packets *packets)
{
	for (size_t at = 0; at < packets->size; ) {
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

/* The session's way: waits, then reads until there is nothing, or others had to have a turn. */
static void *read_ktop(int fd, uint8_t *buffer)
{
	struct intake *intake = intake_new(NULL);
	struct source *source = source_from_fd(dup(fd));
	struct pollfd ready = { .fd = source_fd(source), .events = POLLIN };
	ssize_t got = 1;

	while (got >= 0) {
		poll(&ready, 1, -1);
		for (int i = 0; i < READS && (got = source_read(source, buffer, READ)) > 0; i++)
			intake_feed(intake, buffer, (size_t)got);
	}
	source_free(source);
	return intake;
}

/* Seconds from the first byte's coming to the last one's end. */
static double time_reader(const struct packets *packets, void *(*reader)(int, uint8_t *),
	struct intake **intake)
{
	uint8_t *buffer = util_alloc(READ);
	struct pollfd ready = { .events = POLLIN };
	uint64_t begin;
	double seconds;
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
	*intake = reader(fds[0], buffer);
	seconds = (double)(util_now() - begin) / 1e9;
	close(fds[0]);
	waitpid(writer, NULL, 0);
	free(buffer);
	return seconds;
}

int main(int argc, char **argv)
{
	struct setup setup = setup_parse(argc, argv);
	struct world *world = world_new(&setup.world);
	struct stream *stream = stream_new(world, &setup.stream);
	const struct packets *packets = all_bytes(stream, setup.samples);
	uint32_t runs = setup.runs < RUNS_MAX ? setup.runs : RUNS_MAX;
	double ktop[RUNS_MAX], nothing[RUNS_MAX], samples = (double)stream_samples(stream);
	const char *draw = setup.world.zipf ? "zipf" : "even";

	setup_pin(READER_CORE);
	for (uint32_t i = 0; i < runs; i++) {
		struct intake *intake;

		nothing[i] = time_reader(packets, read_nothing, &intake);
		ktop[i] = time_reader(packets, read_ktop, &intake);
		intake_check(intake, stream_samples(stream));
		intake_free(intake);
	}
	printf("ingest_%s_rate\t%.2f\tmillion samples/s\n", draw,
		samples / setup_median(ktop, runs) / 1e6);
	printf("ingest_%s_bytes\t%.0f\tMB/s\n", draw,
		(double)packets->size / setup_median(ktop, runs) / 1e6);
	printf("read_%s_rate\t%.2f\tmillion samples/s\n", draw,
		samples / setup_median(nothing, runs) / 1e6);
	printf("read_%s_bytes\t%.0f\tMB/s\n", draw,
		(double)packets->size / setup_median(nothing, runs) / 1e6);
	printf("ingest_%s_share\t%.1f\t%%\n", draw,
		100 * setup_median(nothing, runs) / setup_median(ktop, runs));
	stream_free(stream);
	world_free(world);
	return 0;
}
