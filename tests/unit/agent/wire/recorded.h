/* SPDX-License-Identifier: MIT */
/* Recordings for tests: into a folder of the scratch folder. */
#ifndef RECORDED_H
#define RECORDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/packets.h"

enum { CPUS = 4, IDS = 64 };

static inline void on_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static inline void on_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

static inline struct recording_writer *record_into(const char *folder)
{
	char *error = NULL;

	if (!recording_folder(folder, &error))
		fail_msg("%s", error);
	return recording_writer_new(&(struct recording_options) { .folder = folder }, &(struct metadata_machine) { 0 });
}

static const struct { uint16_t id; uint32_t stream; const char *name, *fields; } kinds[] = {
#define KIND(id, stream, name) { id, stream, #name, KTOP_WIRE_FIELDS(name) },
	KTOP_WIRE_EVENTS(KIND)
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct counts {
	uint64_t events[IDS][CPUS];	/* by index in `kinds`, and by CPU */
};

/* Adds one packet of random events of the stream, and counts them. */
static inline void add_packet(struct packets *packets, uint32_t stream, uint32_t cpu, uint64_t *time,
	size_t events, uint64_t *seed, struct counts *counts)
{
	packets_begin(packets, stream, cpu, *time);
	while (events) {
		size_t kind = random_next(seed) % KINDS;
		struct body body;

		/* Random facts would set the clock; random descriptors would describe nothing. */
		if (kinds[kind].stream != stream || kinds[kind].id == KTOP_EVENT_guest ||
				kinds[kind].id == KTOP_EVENT_descriptor)
			continue;
		*time += random_next(seed) % 1000000;
		body_random(&body, kinds[kind].id, seed, 20);
		packets_event(packets, *time, kinds[kind].id, &body);
		counts->events[kind][cpu]++;
		events--;
	}
	packets_end(packets, *time);
}

#endif
