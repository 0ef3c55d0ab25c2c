/* SPDX-License-Identifier: MIT */
/* A recording of some packets, in a folder of the scratch folder; and what is read of it again. */
#ifndef RECORDING_SEEN_H
#define RECORDING_SEEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum { CPUS = RECORDINGS_CPUS, ROUNDS = 4, EVENTS = 3, HZ = 1000000000 };

static inline struct packets *some_packets(uint8_t boot)
{
	struct packets *packets = packets_new(boot);

	for (uint64_t round = 0; round < ROUNDS; round++) {
		recordings_guest(packets, round * 100, HZ);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			recordings_missed(packets, cpu, round * 100 + 10 * cpu + 1, EVENTS);
	}
	return packets;
}

struct seen {
	struct decode *decode;
	uint64_t boots, packets, ordered;
	uint64_t end;			/* of the last packet */
};

static inline void see_boot(void *context, const uint8_t *boot_id)
{
	struct seen *seen = context;

	(void)boot_id;
	seen->boots++;
}

static inline void see_packet(void *context, const struct packet *packet)
{
	struct seen *seen = context;

	seen->packets++;
	seen->ordered += packet->end >= seen->end;
	seen->end = packet->end;
}

/* Feeds a whole boot to a decoder. The caller frees it. */
static inline struct seen read_boot(const struct recording *recording, size_t boot)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct seen seen = { .boots = 0 };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &seen, .boot = see_boot, .packet = see_packet, .events = recordings_no_events,
	});
	struct reader *reader = reader_new(recording, boot);
	size_t got;

	while ((got = reader_read(reader, bytes, sizeof(bytes))))
		decode_feed(decode, bytes, got);
	reader_free(reader);
	seen.decode = decode;
	return seen;
}

static inline uint64_t size_of(const char *path)
{
	struct stat is;

	assert_int_equal(stat(path, &is), 0);
	return (uint64_t)is.st_size;
}

/* One file is cut; the others are whole. */
static inline void check_cut(const char *folder, uint64_t whole, uint64_t skipped)
{
	char *error = NULL, text[256], *count = util_format("cut or damaged: %d bytes", (int)skipped);
	struct recording *recording = recording_new(folder, &error);
	struct seen seen;
	struct books books;

	assert_non_null(recording);
	recording_remark(recording, 0, text, sizeof(text));
	assert_int_equal(!strstr(text, count), !skipped);
	seen = read_boot(recording, 0);
	books = decode_books(seen.decode, STREAM_SAMPLES, 0);
	assert_int_equal(seen.packets, whole + ROUNDS * CPUS);
	assert_int_equal(books.received, whole * EVENTS);
	assert_int_equal(books.lost, 0);
	assert_int_equal(decode_books(seen.decode, STREAM_SAMPLES, 1).received, ROUNDS * EVENTS);
	assert_int_equal(decode_counts(seen.decode).skipped_bytes, 0);
	decode_free(seen.decode);
	recording_free(recording);
	free(count);
}

/* Some packets that were recorded, and one file of the recording. */
struct written {
	struct packets *packets;
	char *part, *file;
};

/* Takes ownership of the packets. */
static inline struct written write_packets(struct packets *packets, const char *folder, const char *file)
{
	struct written written = { .packets = packets };

	recordings_write(scratch_path(folder), packets);
	written.part = scratch_only(scratch_path(folder));
	written.file = util_format("%s/%s", written.part, file);
	return written;
}

static inline struct written write_some(const char *folder, const char *file)
{
	return write_packets(some_packets(3), folder, file);
}

static inline void written_clear(struct written *written)
{
	free(written->file);
	free(written->part);
	packets_free(written->packets);
}

#endif
