/* SPDX-License-Identifier: MIT */
/* Random packets for the tests of the decoder, with a log of their events; and what its books say of them. */
#ifndef RANDOM_STREAM_H
#define RANDOM_STREAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/decode_log.h"
#include "tests/unit/fakes/packets.h"

enum { CPUS = 3 };

static const struct { uint16_t id; uint32_t stream; } kinds[] = {
#define KIND(id, stream, name) { id, stream },
	KTOP_WIRE_EVENTS(KIND)
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static inline void add_event(struct packets *packets, struct log *log, uint32_t cpu, uint64_t time,
	uint16_t id, uint64_t *seed, size_t list_max)
{
	struct body body;

	body_random(&body, id, seed, list_max);
	packets_event(packets, time, id, &body);
	log_add(log, cpu, time, id, &body);
}

/* One packet of random events; returns the time of its end. */
static inline uint64_t add_packet(struct packets *packets, struct log *log, uint32_t stream, uint32_t cpu,
	uint64_t time, size_t events, uint64_t *seed, size_t list_max)
{
	packets_begin(packets, stream, cpu, time);
	for (size_t i = 0; i < events;) {
		size_t kind = random_next(seed) % KINDS;

		if (kinds[kind].stream != stream)
			continue;
		time += random_next(seed) % 0x60000000;
		add_event(packets, log, cpu, time, kinds[kind].id, seed, list_max);
		i++;
	}
	packets_end(packets, time);
	return time;
}

/* A heartbeat of each stream and CPU: after it, the books are exact. */
static inline void add_heartbeats(struct packets *packets, uint64_t time)
{
	for (uint32_t stream = 0; stream < KTOP_STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			packets_begin(packets, stream, cpu, time);
			packets_end(packets, time);
		}
}

static inline struct packets *random_stream(struct log *log, uint64_t seed, size_t count, size_t events,
	size_t list_max)
{
	struct packets *packets = packets_new(1);
	uint64_t time = seed % 1000;

	log->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t stream = random_next(&seed) % KTOP_STREAMS, cpu = random_next(&seed) % CPUS;

		if (random_next(&seed) % 4 == 0)
			packets_discard(packets, stream, cpu, random_next(&seed) % 10);
		time = add_packet(packets, log, stream, cpu, time, random_next(&seed) % (events + 1),
			&seed, list_max);
	}
	add_heartbeats(packets, time);
	return packets;
}

/* On each stream and CPU, earlier + received + lost is what the guest says it took. */
static inline void assert_books(const struct decode *decode, const struct packets *packets)
{
	for (uint32_t stream = 0; stream < KTOP_STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			struct books books = decode_books(decode, stream, cpu);
			const struct packets_lane *lane = &packets->lanes[stream][cpu];

			assert_int_equal(books.earlier + books.received + books.lost,
				lane->before + lane->discarded);
		}
}

#endif
