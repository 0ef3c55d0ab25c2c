/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/util.h"
#include "kernel-hook/wire.h"
#include "decode.h"
#include "metadata.h"
#include "record.h"
#include "record_writer.h"

enum { NAMES_MAX = 64 << 20 };		/* bytes that names may add to a part; see is_full */

struct record {
	struct record_writer *writer;
	struct metadata_machine machine;	/* owned */
	uint64_t part_bytes;			/* the most for a part; 0: no limit */
	struct record_sums sums;

	/* The part that is being recorded. */
	bool begun;
	uint64_t bytes;
	uint64_t names;				/* of `bytes`: those of packets with the kernel's own names */
	bool naming;				/* the kernel has not told all its names yet */
	uint8_t boot_id[RECORD_BOOT_ID];
	struct metadata *metadata;
	uint64_t ends[STREAMS][EVENT_CPUS];	/* when the last packet in each file ends; guest clock ticks */
};

/* Makes the folder, or checks that it is empty. Returns 0, or errno. */
static int make_empty(const char *folder)
{
	struct dirent *entry;
	int why = 0;
	DIR *opened;

	if (mkdir(folder, 0700) == 0)
		return 0;
	if (errno != EEXIST || !(opened = opendir(folder)))
		return errno;
	while (!why && (entry = readdir(opened)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			why = ENOTEMPTY;
	closedir(opened);
	return why;
}

bool record_folder(const char *folder, char **error)
{
	int why = make_empty(folder);

	return !why || util_fail(error, "%s: not recorded: %s; name a new or an empty folder", folder,
		strerror(why));
}

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

struct record *record_new(const struct record_options *options, const struct metadata_machine *machine)
{
	struct record *record = util_alloc(sizeof(*record));

	record->writer = record_writer_new(options->folder, options->parts);
	record->part_bytes = options->part_bytes;
	record->machine.name = copy(machine->name);
	record->machine.kernel = copy(machine->kernel);
	return record;
}

static void end_part(struct record *record)
{
	if (record->begun)
		record_writer_end(record->writer);
	record->begun = false;
}

static bool is_same_boot(const struct record *record, const struct packet *packet)
{
	return record->metadata && memcmp(record->boot_id, packet->boot_id, RECORD_BOOT_ID) == 0;
}

/*
 * A kernel that knows its own names tells them again for each part, and they may be larger than part_bytes. Then
 * the part grows beyond that, until it has all of the names, and as many other bytes.
 */
static bool is_full(const struct record *record, const struct packet *packet)
{
	uint64_t most = record->part_bytes, bytes = record->bytes;
	bool waits = bytes < most + NAMES_MAX && (record->naming || bytes < 2 * record->names);

	return most && bytes && bytes + packet->size > most && !waits;
}

/* Time would run backwards in a file, which readers refuse: the machine was put back (loadvm). */
static bool is_put_back(const struct record *record, const struct packet *packet)
{
	return packet->begin < record->ends[packet->stream][packet->cpu];
}

/* A new part of the same boot keeps the metadata: it describes all that was described before. */
static void begin_part(struct record *record, const struct packet *packet, bool goes_on)
{
	end_part(record);
	if (!is_same_boot(record, packet)) {
		metadata_free(record->metadata);
		record->metadata = metadata_new(&record->machine);
		memcpy(record->boot_id, packet->boot_id, RECORD_BOOT_ID);
		record->sums.boots++;
	}
	memset(record->ends, 0, sizeof(record->ends));
	record->begun = true;
	record->naming = goes_on && record->names;	/* the kernel tells them again */
	record->bytes = record->names = 0;
	record_writer_begin(record->writer, packet->boot_id, goes_on);
}

static void write_metadata(struct record *record)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *text = util_text_open(&bytes, &size);

	metadata_write(record->metadata, record->boot_id, text);
	util_text_close(text, &bytes);
	record_writer_metadata(record->writer, bytes, size);
	free(bytes);
}

/* Counts the kernel's own names. An empty name ends them. */
static void count_names(struct record *record, const struct packet *packet)
{
	struct ktop_wire_event wire;
	bool found = false;

	for (size_t at = sizeof(struct ktop_wire_packet); at + sizeof(wire) <= packet->size;
			at += sizeof(wire) + wire.size) {
		memcpy(&wire, packet->bytes + at, sizeof(wire));
		if (wire.id != KTOP_EVENT_symbol)
			continue;
		found = true;
		record->naming = wire.size > sizeof(struct ktop_wire_symbol) + sizeof(uint16_t);
	}
	record->names += found ? packet->size : 0;
}

static void count(struct record *record, const struct packet *packet)
{
	uint64_t *events = packet->stream == STREAM_SAMPLES ? &record->sums.samples :
		&record->sums.events;

	record->sums.packets++;
	record->sums.bytes += packet->size;
	record->bytes += packet->size;
	*events += metadata_events(packet);
	if (packet->stream == STREAM_META)
		count_names(record, packet);
}

bool record_packet(struct record *record, const struct packet *packet)
{
	bool goes_on = record->begun && is_same_boot(record, packet) && !is_put_back(record, packet);
	bool full = goes_on && is_full(record, packet), begins = !goes_on || full;

	if (record_writer_failed(record->writer))
		return false;
	if (begins)
		begin_part(record, packet, full);
	if (metadata_packet(record->metadata, packet) || begins)
		write_metadata(record);
	if (record_writer_packet(record->writer, packet)) {
		record->ends[packet->stream][packet->cpu] = packet->end;
		count(record, packet);
	}
	return full;
}

struct record_sums record_sums(const struct record *record)
{
	return record->sums;
}

bool record_writes(struct record *record)
{
	end_part(record);
	return record_writer_writes(record->writer);
}

bool record_failed(struct record *record, char *text, size_t size)
{
	return record_writer_why(record->writer, text, size);
}

static void free_record(struct record *record)
{
	metadata_free(record->metadata);
	free((char *)record->machine.name);
	free((char *)record->machine.kernel);
	free(record);
}

bool record_close(struct record *record, char **error)
{
	bool good;

	end_part(record);
	good = record_writer_close(record->writer, error);
	free_record(record);
	return good;
}

void record_leave(struct record *record)
{
	if (!record)
		return;
	end_part(record);
	record_writer_leave(record->writer);
	free_record(record);
}
