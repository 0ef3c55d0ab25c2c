/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "recorded.h"
#include "setup.h"
#include "tests/unit/fakes/packets.h"
#include "traffic.h"
#include "world.h"

enum { CPUS = 64 };

#define FOLDER "recording/0001-made"

struct files {
	FILE *files[STREAMS][CPUS];
	struct metadata *metadata;
	uint8_t boot_id[KTOP_BOOT_ID];
	uint64_t bytes;
};

static void recorded_fail(const char *why)
{
	fprintf(stderr, "recording: %s\n", why);
	exit(1);
}

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
}

static void end_files(struct files *files)
{
	FILE *metadata = fopen(FOLDER "/metadata", "w");
	bool good = metadata;

	if (metadata)
		metadata_write(files->metadata, files->boot_id, metadata);
	good = good && fclose(metadata) == 0;
	metadata_free(files->metadata);
	for (int stream = 0; stream < STREAMS; stream++)
		for (int cpu = 0; cpu < CPUS; cpu++)
			if (files->files[stream][cpu])
				good = fclose(files->files[stream][cpu]) == 0 && good;
	if (!good)
		recorded_fail("it cannot be written; make room");
}

struct recorded recorded_make(const struct setup *setup, uint64_t bytes)
{
	struct world *world = world_new(&setup->world);
	struct traffic *traffic = traffic_new(world, &setup->traffic);
	struct files files = { .metadata = metadata_new(&(struct metadata_machine) { 0 }) };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &files, .boot = no_boot, .packet = write_packet, .events = no_events,
	});
	struct recorded made = { 0 };
	uint64_t turns = 0;

	if (system("rm -rf recording && mkdir -p " FOLDER) != 0)
		recorded_fail("there is no folder for it");
	traffic_hello(traffic);
	while (files.bytes < bytes) {
		traffic_turn(traffic);
		turns++;
		decode_feed(decode, traffic_bytes(traffic)->bytes, traffic_bytes(traffic)->size);
		traffic_bytes(traffic)->size = 0;
	}
	end_files(&files);
	made.guest_s = (double)turns * TRAFFIC_TURN_MS / 1000;
	made.bytes = files.bytes;
	made.samples = traffic_samples(traffic);
	made.events = traffic_events(traffic);
	decode_free(decode);
	traffic_free(traffic);
	world_free(world);
	return made;
}
