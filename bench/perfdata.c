/* SPDX-License-Identifier: MIT */
/*
 * `perfdata FILE SAMPLES` writes a perf.data for `perf report`, with the samples of the traffic as `perf record` would
 * have written them for such a kernel.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/packets.h"
#include "setup.h"

enum { PROCESS = 100, THREAD = 1000, THREADS_PER_PROCESS = 8, TEXT_SIZE = 1 << 30 };

struct section {
	uint64_t offset, size;
};

/* linux/tools/perf/Documentation/perf.data-file-format.txt */
struct header {
	char magic[8];
	uint64_t size, attribute_size;
	struct section attributes, data, types;
	uint64_t features[4];
};

struct attribute {
	struct perf_event_attr event;
	struct section ids;
};

struct mapping {
	struct perf_event_header header;
	uint32_t process, thread;
	uint64_t start, size, offset;
	char name[24];
};

struct name {
	struct perf_event_header header;
	uint32_t process, thread;
	char text[24];
};

struct sample {
	struct perf_event_header header;
	uint64_t pc;
	uint32_t process, thread;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t count;			/* of what follows: a mark, then the frames */
	uint64_t mark;
	uint64_t frames[WORLD_DEPTH_MAX];
};

static void put_kernel(FILE *file)
{
	const struct mapping mapping = {
		.header = { PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, sizeof(mapping) },
		.process = UINT32_MAX,
		.start = WORLD_TEXT,
		.size = TEXT_SIZE,
		.offset = WORLD_TEXT,
		.name = "[kernel.kallsyms]_text",
	};

	fwrite(&mapping, sizeof(mapping), 1, file);
}

static void put_thread(FILE *file, uint32_t number)
{
	struct name name = {
		.header = { PERF_RECORD_COMM, 0, sizeof(name) },
		.process = PROCESS + number / THREADS_PER_PROCESS,
		.thread = THREAD + number,
	};

	snprintf(name.text, sizeof(name.text), "worker-%u", number);
	fwrite(&name, sizeof(name), 1, file);
}

static void put_sample(FILE *file, const struct setup *setup, const struct world *world,
	uint64_t number)
{
	static uint64_t seed = 521288629521288629u;
	uint32_t thread = (uint32_t)((random_next(&seed) >> 32) * setup->traffic.threads >> 32);
	const uint64_t *frames = world_stack(world, world_draw(world, &seed));
	uint32_t depth = setup->world.depth;
	struct sample sample = {
		.header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
			(uint16_t)(offsetof(struct sample, frames) + 8 * depth) },
		.pc = frames[0],
		.process = PROCESS + thread / THREADS_PER_PROCESS,
		.thread = THREAD + thread,
		.time = NS_PER_SECOND + number * NS_PER_SECOND / (uint64_t)setup->traffic.rate,
		.cpu = (uint32_t)(number % setup->traffic.cpus),
		.count = depth + 1,
		.mark = PERF_CONTEXT_KERNEL,
	};

	memcpy(sample.frames, frames, depth * sizeof(*frames));
	fwrite(&sample, sample.header.size, 1, file);
}

static void put_headers(FILE *file, uint64_t data_size)
{
	const struct attribute attribute = {
		.event = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(attribute.event),
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		},
	};
	const struct header header = {
		.magic = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.size = sizeof(header),
		.attribute_size = sizeof(attribute),
		.attributes = { sizeof(header), sizeof(attribute) },
		.data = { sizeof(header) + sizeof(attribute), data_size },
	};

	fwrite(&header, sizeof(header), 1, file);
	fwrite(&attribute, sizeof(attribute), 1, file);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[1], "w") : NULL;
	struct setup setup = setup_parse(1, argv);
	struct world *world = world_new(&setup.world);
	uint64_t begin = sizeof(struct header) + sizeof(struct attribute);

	if (!file) {
		fprintf(stderr, "usage: %s FILE SAMPLES\n", argv[0]);
		return 2;
	}
	put_headers(file, 0);
	put_kernel(file);
	for (uint32_t i = 0; i < setup.traffic.threads; i++)
		put_thread(file, i);
	for (uint64_t i = 0; i < strtoull(argv[2], NULL, 10); i++)
		put_sample(file, &setup, world, i);
	begin = (uint64_t)ftell(file) - begin;
	rewind(file);
	put_headers(file, begin);
	world_free(world);
	return fclose(file) == 0 ? 0 : 1;
}
