/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/util.h"
#include "decode.h"
#include "metadata.h"
#include "record.h"
#include "record_writer.h"

struct record {
	struct record_writer *writer;

	/* the epoch being recorded */
	bool begun;
	uint8_t boot_id[RECORD_BOOT_ID];
	struct metadata *metadata;
	uint64_t ends[STREAMS][EVENT_CPUS];	/* of the last packet in each file */
};

/* Makes the folder, or finds it empty: 0, or errno. */
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

struct record *record_new(const char *folder, char **error)
{
	int why = make_empty(folder);
	struct record *record;

	if (why) {
		util_fail(error, "%s: no recording: %s; name a new or an empty folder",
			folder, strerror(why));
		return NULL;
	}
	record = util_alloc(sizeof(*record));
	record->writer = record_writer_new(folder);
	return record;
}

static void begin_epoch(struct record *record, const uint8_t *boot_id)
{
	if (!record->metadata || memcmp(record->boot_id, boot_id, RECORD_BOOT_ID) != 0) {
		metadata_free(record->metadata);
		record->metadata = metadata_new();
		memcpy(record->boot_id, boot_id, RECORD_BOOT_ID);
	}
	memset(record->ends, 0, sizeof(record->ends));
	record->begun = true;
	record_writer_begin(record->writer, boot_id);
}

static void end_epoch(struct record *record)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *text = record->begun ? util_text_open(&bytes, &size) : NULL;

	if (text) {
		metadata_write(record->metadata, record->boot_id, text);
		util_text_close(text, &bytes);
	}
	if (record->begun)
		record_writer_end(record->writer, bytes, size);
	record->begun = false;
	free(bytes);
}

/* Time runs backwards in a file: the machine was put back (loadvm). Readers would refuse that. */
static bool is_new_epoch(const struct record *record, const struct packet *packet)
{
	return !record->begun || memcmp(record->boot_id, packet->boot_id, RECORD_BOOT_ID) != 0 ||
		packet->begin < record->ends[packet->stream][packet->cpu];
}

void record_packet(struct record *record, const struct packet *packet)
{
	if (record_writer_failed(record->writer))
		return;
	if (is_new_epoch(record, packet)) {
		end_epoch(record);
		begin_epoch(record, packet->boot_id);
	}
	if (!record_writer_packet(record->writer, packet))
		return;
	record->ends[packet->stream][packet->cpu] = packet->end;
	metadata_packet(record->metadata, packet);
}

void record_event(struct record *record, const struct event *event)
{
	if (record->metadata)
		metadata_event(record->metadata, event);
}

bool record_writes(struct record *record)
{
	end_epoch(record);
	return record_writer_writes(record->writer);
}

bool record_failed(struct record *record, char *text, size_t size)
{
	return record_writer_why(record->writer, text, size);
}

bool record_close(struct record *record, char **error)
{
	bool good;

	if (!record)
		return true;
	end_epoch(record);
	good = record_writer_close(record->writer, error);
	metadata_free(record->metadata);
	free(record);
	return good;
}
