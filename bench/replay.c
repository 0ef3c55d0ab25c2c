/* SPDX-License-Identifier: MIT */
/*
 * `replay KTOP [MB] [name=value...]` makes a recording of so many MB (1000 if not given) of a made-up guest in
 * build/bench/recording. `KTOP report` reads it. Prints how many times faster than guest time that was, and the most
 * memory that it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "setup.h"
#include "tests/unit/fakes/packets.h"
#include "traffic.h"
#include "world.h"

enum { CPUS = 64 };

#define FOLDER "build/bench/recording/0001-made"

struct files {
	FILE *files[STREAMS][CPUS];
	struct metadata *metadata;
	uint8_t boot_id[KTOP_BOOT_ID];
	uint64_t bytes, end;
};

static void no_boot(void *context, const uint8_t *boot_id)
{
	struct files *files = context;

	memcpy(files->boot_id, boot_id, sizeof(files->boot_id));
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

static void write_packet(void *context, const struct packet *packet)
{
	static const char *const names[STREAMS] = { "meta", "samples", "trace" };
	struct files *files = context;
	FILE **file = &files->files[packet->stream][packet->cpu % CPUS];
	char *path = util_format(FOLDER "/%s_%u", names[packet->stream], packet->cpu);

	if (!*file && !(*file = fopen(path, "w")))
		perror(path), exit(1);
	free(path);
	fwrite(packet->bytes, 1, packet->size, *file);
	metadata_packet(files->metadata, packet);
	files->bytes += packet->size;
	files->end = packet->end;
}

static void end_files(struct files *files)
{
	FILE *metadata = fopen(FOLDER "/metadata", "w");

	metadata_write(files->metadata, files->boot_id, metadata);
	fclose(metadata);
	metadata_free(files->metadata);
	for (int stream = 0; stream < STREAMS; stream++)
		for (int cpu = 0; cpu < CPUS; cpu++)
			if (files->files[stream][cpu])
				fclose(files->files[stream][cpu]);
}

/* Returns the guest time in the recording, in seconds. */
static double make(const struct setup *setup, uint64_t bytes)
{
	struct world *world = world_new(&setup->world);
	struct traffic *traffic = traffic_new(world, &setup->traffic);
	struct files files = { .metadata = metadata_new(&(struct metadata_machine) { 0 }) };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &files, .boot = no_boot, .packet = write_packet, .events = no_events,
	});
	uint64_t turns = 0;

	traffic_hello(traffic);
	while (files.bytes < bytes) {
		traffic_turn(traffic);
		turns++;
		decode_feed(decode, traffic_bytes(traffic)->bytes, traffic_bytes(traffic)->size);
		traffic_bytes(traffic)->size = 0;
	}
	end_files(&files);
	decode_free(decode);
	traffic_free(traffic);
	world_free(world);
	return (double)turns * TRAFFIC_TURN_MS / 1000;
}

static void report(const char *ktop)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (!freopen("build/bench/recording/table", "w", stdout))
			_exit(1);
		execl(ktop, ktop, "report", "build/bench/recording", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (status)
		exit(1);
}

int main(int argc, char **argv)
{
	uint64_t megabytes = argc > 2 && !strchr(argv[2], '=') ? strtoull(argv[2], NULL, 10) : 1000;
	int words = argc > 2 && !strchr(argv[2], '=') ? 2 : 1;
	struct setup setup = setup_parse(argc - words, argv + words);
	struct rusage used;
	uint64_t begin;
	double guest, host;

	if (system("rm -rf build/bench/recording && mkdir -p " FOLDER) != 0)
		return 1;
	guest = make(&setup, megabytes * 1000000);
	begin = util_now();
	report(argv[1]);
	host = (double)(util_now() - begin) / 1e9;
	getrusage(RUSAGE_CHILDREN, &used);
	printf("replay_guest\t%.0f\ts\n", guest);
	printf("replay_host\t%.2f\ts\n", host);
	printf("replay_ratio\t%.0f\ttimes\n", guest / host);
	printf("replay_memory\t%ld\tMiB\n", used.ru_maxrss / 1024);
	return system("rm -rf build/bench/recording");
}
