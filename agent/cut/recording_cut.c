/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "recording_cut.h"

/* ---- partial folder ---- */

/* In fresh memory. */
static char *partial_folder_name(const char *folder)
{
	size_t size = strlen(folder);

	while (size > 1 && folder[size - 1] == '/')
		size--;
	return util_format("%.*s.partial", (int)size, folder);
}

/* A folder that is there already may be somebody's: it is left as it is, unless it is empty. */
static bool make(const char *partial, const char *folder, char **error)
{
	rmdir(partial);
	if (access(partial, F_OK) == 0)
		return util_fail(error, "%s: not written: there is %s, of an export that was killed, or that goes on; "
			"remove it, or name another folder", folder, partial);
	return recording_folder(partial, error);
}

char *partial_folder_new(const char *folder, char **error)
{
	char *partial = partial_folder_name(folder);

	if (make(partial, folder, error))
		return partial;
	free(partial);
	return NULL;
}

void partial_folder_discard(char *partial)
{
	if (partial)
		recording_remove(partial);
	free(partial);
}

bool partial_folder_commit(char *partial, const char *folder, char **error)
{
	if (rename(partial, folder) == 0) {
		free(partial);
		return true;
	}
	util_fail(error, "%s: not written: %s; name a new or an empty folder", folder, strerror(errno));
	partial_folder_discard(partial);
	return false;
}

static bool is_taken(const char *folder)
{
	char *partial = partial_folder_name(folder);
	bool taken = access(folder, F_OK) == 0 || access(partial, F_OK) == 0;

	free(partial);
	return taken;
}

char *partial_folder_unused(const char *folder)
{
	const char *dot = strrchr(folder, '.');
	int stem = dot ? (int)(dot - folder) : (int)strlen(folder);
	char *name = util_copy(folder, strlen(folder));

	for (unsigned number = 2; is_taken(name); number++) {
		free(name);
		name = util_format("%.*s-%u%s", stem, folder, number, dot ? dot : "");
	}
	return name;
}

/* ---- recording cut ---- */

enum { HEADER = sizeof(struct ktop_wire_packet), EVENT = sizeof(struct ktop_wire_event) };

struct lane {				/* one stream of one CPU */
	bool begun;			/* an event of it was kept, or the range is over */
	bool ended;			/* a packet from behind the range says so, without its events */
	uint64_t left_out;		/* events that were not, since it has begun */
};

struct work {
	uint64_t from, to;		/* guest clock ticks: from <= time < to */
	struct lane lanes[STREAMS][EVENT_CPUS];
	uint8_t bytes[KTOP_PACKET_MAX];	/* the present packet */
};

static uint64_t within(const struct work *work, uint64_t ticks)
{
	return ticks < work->from ? work->from : ticks > work->to ? work->to : ticks;
}

/* What is told behind the range holds for it too, but for the states of the profiler. */
static bool is_kept(const struct work *work, uint32_t stream, uint16_t id, uint64_t time)
{
	if (stream == KTOP_META)
		return time < work->to || (id != KTOP_EVENT_status && id != KTOP_EVENT_cpu_status);
	return time >= work->from && time < work->to;
}

/* Takes out of the packet what is not kept. Its times are within the range then. False: it is not whole. */
static bool cut_events(struct work *work, struct ktop_wire_packet *packet)
{
	size_t size = packet->packet_size / 8, to = HEADER;
	struct lane *lane = &work->lanes[packet->stream][packet->cpu];
	uint64_t last = packet->begin, before = packet->before - lane->left_out;

	for (size_t at = HEADER, next; at < size; at = next) {
		struct ktop_wire_event wire;

		if (size - at < EVENT)
			return false;
		memcpy(&wire, work->bytes + at, EVENT);
		next = at + EVENT + wire.size;
		if (next > size)
			return false;
		last += (uint32_t)(wire.time - (uint32_t)last);
		if (is_kept(work, packet->stream, wire.id, last)) {
			lane->begun = true;
			wire.time = (uint32_t)within(work, last);
			memcpy(work->bytes + at, &wire, EVENT);
			memmove(work->bytes + to, work->bytes + at, next - at);
			to += next - at;
		} else if (lane->begun || last >= work->to) {
			lane->begun = true;
			lane->left_out++;
		} else {
			before++;
		}
	}
	packet->begin = within(work, packet->begin);
	packet->end = within(work, packet->end);
	packet->content_size = packet->packet_size = 8 * to;
	packet->before = before;
	return true;
}

/* True: a part of the packet in `bytes` is in the range, and now it is this part. */
static bool cut_packet(struct work *work, struct packet *part)
{
	struct ktop_wire_packet packet;
	struct lane *lane;

	memcpy(&packet, work->bytes, HEADER);
	lane = &work->lanes[packet.stream][packet.cpu];
	if (packet.stream != KTOP_META && (packet.end < work->from || lane->ended))
		return false;
	if (!cut_events(work, &packet))
		return false;
	lane->ended = packet.end == work->to;
	memcpy(work->bytes, &packet, HEADER);
	*part = (struct packet) {
		.bytes = work->bytes, .size = packet.packet_size / 8, .stream = packet.stream, .cpu = packet.cpu,
		.boot_id = work->bytes + offsetof(struct ktop_wire_packet, boot_id),
		.begin = packet.begin, .end = packet.end,
	};
	return true;
}

static uint64_t bytes_of(const struct recording *recording, const struct recording_boot *boot)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < boot->parts; i++)
		bytes += recording->parts[boot->first + i].bytes;
	return bytes;
}

static bool is_stopped(const struct recording_cut *cut)
{
	return atomic_load_explicit(cut->stop, memory_order_relaxed);
}

/* Returns why packets could not be reached; NULL: none failed. */
static char *copy_packets(const struct recording *recording, const struct recording_cut *cut, struct work *work,
	struct recording_writer *writer)
{
	uint64_t all = bytes_of(recording, &recording->boots[cut->boot]), done = 0;
	struct reader *reader = reader_new(recording, cut->boot);
	struct packet part;
	char why[256];
	char *failure;
	size_t got;

	while (!is_stopped(cut) && !recording_writer_failed(writer, why, sizeof(why)) &&
			(got = reader_read(reader, work->bytes, sizeof(work->bytes)))) {
		if (cut_packet(work, &part))
			recording_writer_packet(writer, &part);
		recording_writer_wait(writer);
		done += got;
		if (all)
			atomic_store_explicit(cut->done, (unsigned)(done * 1000 / all), memory_order_relaxed);
	}
	failure = reader_failure(reader);
	reader_free(reader);
	return failure;
}

/* Into a folder that is there already, and empty. */
static bool write_cut(const struct recording *recording, const struct recording_cut *cut, const char *folder,
	struct recording_sums *sums, char **error)
{
	const struct recording_boot *boot = &recording->boots[cut->boot];
	struct recording_writer *writer = recording_writer_new(&(struct recording_options) { .folder = folder },
		&(struct metadata_machine) { .name = boot->machine, .kernel = boot->kernel });
	struct work *work = util_alloc(sizeof(*work));
	char *failure;
	bool good;

	work->from = recording_ticks(boot, cut->from);
	work->to = recording_ticks(boot, cut->to);
	failure = copy_packets(recording, cut, work, writer);
	*sums = recording_writer_sums(writer);
	free(work);
	good = recording_writer_close(writer, error);
	if (failure && good)
		good = util_fail(error, "%s", failure);
	free(failure);
	return good;
}

bool recording_cut_write(const struct recording *recording, const struct recording_cut *cut, const char *folder,
	struct recording_sums *sums, char **error)
{
	char *partial = partial_folder_new(folder, error);
	bool good = partial && write_cut(recording, cut, partial, sums, error);

	if (good && is_stopped(cut))
		good = util_fail(error, "%s: not written: interrupted; take it again", folder);
	if (good)
		return partial_folder_commit(partial, folder, error);
	partial_folder_discard(partial);
	return false;
}

void recording_cut_abandon(const char *folder)
{
	partial_folder_discard(partial_folder_name(folder));
}
