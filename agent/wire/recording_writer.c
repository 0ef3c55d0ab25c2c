/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "kernel-hook/wire.h"
#include "decode.h"
#include "metadata.h"
#include "recording_writer.h"
#include "recording_disk.h"

enum { NAMES_MAX = 64 << 20 };		/* bytes that names may add to a part; see is_full */

struct recording_writer {
	struct recording_disk *disk;
	struct metadata_machine machine;	/* owned */
	uint64_t part_bytes;			/* the most for a part; 0: no limit */
	struct recording_sums sums;

	/* The part that is being recorded. */
	bool begun;
	uint64_t bytes;
	uint64_t names;				/* of `bytes`: those of packets with the kernel's own names */
	bool naming;				/* the kernel has not told all its names yet */
	uint8_t boot_id[RECORDING_BOOT_ID];
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

bool recording_folder(const char *folder, char **error)
{
	int why = make_empty(folder);

	return !why || util_fail(error, "%s: not recorded: %s; %s", folder, strerror(why),
		util_open_remedy(why, "name a new or an empty folder"));
}

void recording_remove(const char *folder)
{
	DIR *parts = opendir(folder);
	struct dirent *part;

	while (parts && (part = readdir(parts)))
		if (part->d_name[0] != '.') {
			char *path = util_format("%s/%s", folder, part->d_name);

			recording_disk_remove(path);
			free(path);
		}
	if (parts)
		closedir(parts);
	rmdir(folder);
}

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

struct recording_writer *recording_writer_new(const struct recording_options *options,
	const struct metadata_machine *machine)
{
	struct recording_writer *writer = util_alloc(sizeof(*writer));

	writer->disk = recording_disk_new(options->folder, options->parts);
	writer->part_bytes = options->part_bytes;
	writer->machine.name = copy(machine->name);
	writer->machine.kernel = copy(machine->kernel);
	return writer;
}

static void end_part(struct recording_writer *writer)
{
	if (writer->begun)
		recording_disk_end(writer->disk);
	writer->begun = false;
}

static bool is_same_boot(const struct recording_writer *writer, const struct packet *packet)
{
	return writer->metadata && memcmp(writer->boot_id, packet->boot_id, RECORDING_BOOT_ID) == 0;
}

/*
 * A kernel that knows its own names tells them again for each part, and they may be larger than part_bytes. Then
 * the part grows beyond that, until it has all of the names, and as many other bytes.
 */
static bool is_full(const struct recording_writer *writer, const struct packet *packet)
{
	uint64_t most = writer->part_bytes, bytes = writer->bytes;
	bool waits = bytes < most + NAMES_MAX && (writer->naming || bytes < 2 * writer->names);

	return most && bytes && bytes + packet->size > most && !waits;
}

/* Time would run backwards in a file, which readers refuse: the machine was put back (loadvm). */
static bool is_put_back(const struct recording_writer *writer, const struct packet *packet)
{
	return packet->begin < writer->ends[packet->stream][packet->cpu];
}

/* A new part of the same boot keeps the metadata: it describes all that was described before. */
static void begin_part(struct recording_writer *writer, const struct packet *packet, bool goes_on)
{
	end_part(writer);
	if (!is_same_boot(writer, packet)) {
		metadata_free(writer->metadata);
		writer->metadata = metadata_new(&writer->machine);
		memcpy(writer->boot_id, packet->boot_id, RECORDING_BOOT_ID);
		writer->sums.boots++;
	}
	memset(writer->ends, 0, sizeof(writer->ends));
	writer->begun = true;
	writer->naming = goes_on && writer->names;	/* the kernel tells them again */
	writer->bytes = writer->names = 0;
	recording_disk_begin(writer->disk, packet->boot_id, goes_on);
}

static void write_metadata(struct recording_writer *writer)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *text = util_text_open(&bytes, &size);

	metadata_write(writer->metadata, writer->boot_id, text);
	util_text_close(text, &bytes);
	recording_disk_metadata(writer->disk, bytes, size);
	free(bytes);
}

/* Counts the kernel's own names. An empty name ends them. */
static void count_names(struct recording_writer *writer, const struct packet *packet)
{
	struct ktop_wire_event wire;
	bool found = false;

	for (size_t at = sizeof(struct ktop_wire_packet); at + sizeof(wire) <= packet->size;
			at += sizeof(wire) + wire.size) {
		memcpy(&wire, packet->bytes + at, sizeof(wire));
		if (wire.id != KTOP_EVENT_symbol)
			continue;
		found = true;
		writer->naming = wire.size > sizeof(struct ktop_wire_symbol) + sizeof(uint16_t);
	}
	writer->names += found ? packet->size : 0;
}

static void count(struct recording_writer *writer, const struct packet *packet)
{
	uint64_t *events = packet->stream == STREAM_SAMPLES ? &writer->sums.samples :
		&writer->sums.events;

	writer->sums.packets++;
	writer->sums.bytes += packet->size;
	writer->bytes += packet->size;
	*events += metadata_events(packet);
	if (packet->stream == STREAM_META)
		count_names(writer, packet);
}

bool recording_writer_packet(struct recording_writer *writer, const struct packet *packet)
{
	bool goes_on = writer->begun && is_same_boot(writer, packet) && !is_put_back(writer, packet);
	bool full = goes_on && is_full(writer, packet), begins = !goes_on || full;

	if (recording_disk_failed(writer->disk))
		return false;
	if (begins)
		begin_part(writer, packet, full);
	if (metadata_packet(writer->metadata, packet) || begins)
		write_metadata(writer);
	if (recording_disk_packet(writer->disk, packet)) {
		writer->ends[packet->stream][packet->cpu] = packet->end;
		count(writer, packet);
	}
	return full;
}

void recording_writer_wait(struct recording_writer *writer)
{
	recording_disk_wait(writer->disk);
}

struct recording_sums recording_writer_sums(const struct recording_writer *writer)
{
	return writer->sums;
}

bool recording_writer_busy(struct recording_writer *writer)
{
	end_part(writer);
	return recording_disk_busy(writer->disk);
}

bool recording_writer_failed(struct recording_writer *writer, char *text, size_t size)
{
	return recording_disk_why(writer->disk, text, size);
}

static void free_record(struct recording_writer *writer)
{
	metadata_free(writer->metadata);
	free((char *)writer->machine.name);
	free((char *)writer->machine.kernel);
	free(writer);
}

bool recording_writer_close(struct recording_writer *writer, char **error)
{
	bool good;

	end_part(writer);
	good = recording_disk_close(writer->disk, error);
	free_record(writer);
	return good;
}

void recording_writer_leave(struct recording_writer *writer)
{
	if (!writer)
		return;
	end_part(writer);
	recording_disk_leave(writer->disk);
	free_record(writer);
}
