/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "recording.h"
#include "recording_reader.h"

enum { OPEN_MAX = 64 };			/* files open at a time; more are closed and opened again */

struct reader {
	const struct recording *recording;
	const struct recording_boot *boot;
	size_t next_part;		/* index of the part after the present one */
	uint64_t given;			/* packets, so far */
	int trouble;			/* errno of the first file or folder that was not read; see reader_failure */

	/* The present part. Its lanes that have a packet are a heap, with the earliest packet on top. */
	DIR *folder;			/* NULL: none is open */
	struct recording_lane *lanes;
	size_t count, room;
	size_t open;			/* files that are open */
	uint64_t uses;
};

/* ---- the heap ---- */

static bool is_before(const struct recording_lane *one, const struct recording_lane *other)
{
	if (one->packet.end != other->packet.end)
		return one->packet.end < other->packet.end;
	return one->stream != other->stream ? one->stream < other->stream : one->cpu < other->cpu;
}

static void sink(struct reader *reader, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < reader->count; child++)
			if (is_before(&reader->lanes[child], &reader->lanes[least]))
				least = child;
		if (least == at)
			return;
		struct recording_lane lane = reader->lanes[at];

		reader->lanes[at] = reader->lanes[least];
		reader->lanes[least] = lane;
		at = least;
	}
}

/* ---- files ---- */

static void close_lane(struct reader *reader, struct recording_lane *lane)
{
	reader->open -= lane->fd >= 0;
	lane_close(lane);
}

/* Of what could not be opened at first either, the recording's remark tells: recording_remark. */
static void note_trouble(struct reader *reader, int why)
{
	bool told = reader->recording->unread && why != EMFILE && why != ENFILE && why != EIO;

	if (!told && !reader->trouble)
		reader->trouble = why;
}

/* When too many are open, the file that is unused for longest is closed. */
static bool open_lane(struct reader *reader, struct recording_lane *lane)
{
	lane->used = ++reader->uses;
	if (lane->fd >= 0)
		return true;
	if (reader->open == OPEN_MAX) {
		struct recording_lane *oldest = NULL;

		for (size_t i = 0; i < reader->count; i++)
			if (reader->lanes[i].fd >= 0 && (!oldest || reader->lanes[i].used < oldest->used))
				oldest = &reader->lanes[i];
		if (oldest)
			close_lane(reader, oldest);
	}
	if (!lane_open(lane, dirfd(reader->folder))) {
		note_trouble(reader, errno);
		return false;
	}
	reader->open++;
	return true;
}

static void drop_top(struct reader *reader)
{
	note_trouble(reader, reader->lanes[0].error);
	close_lane(reader, &reader->lanes[0]);
	reader->lanes[0] = reader->lanes[--reader->count];
	sink(reader, 0);
}

/* Goes to the top lane's next packet, and gives the lane its new place. A lane without a packet is dropped. */
static void advance_top(struct reader *reader)
{
	struct recording_lane *lane = &reader->lanes[0];

	if (open_lane(reader, lane))
		lane_next(lane);
	else
		lane->packet.size = 0;
	if (lane->packet.size)
		sink(reader, 0);
	else
		drop_top(reader);
}

/* ---- parts ---- */

static void add_lane(struct reader *reader, struct lane_name name)
{
	struct recording_lane lane = {
		.stream = name.stream, .cpu = name.cpu, .patience = &reader->recording->patience, .fd = -1,
	};

	if (!open_lane(reader, &lane))
		return;
	lane_begin(&lane, reader->boot->boot_id);
	if (!lane.packet.size) {
		note_trouble(reader, lane.error);
		close_lane(reader, &lane);
		return;
	}
	if (reader->count == reader->room) {
		reader->room = 2 * reader->room + 16;
		reader->lanes = util_grow(reader->lanes, reader->room, sizeof(lane));
	}
	reader->lanes[reader->count++] = lane;
}

static void close_part(struct reader *reader)
{
	for (size_t i = 0; i < reader->count; i++)
		close_lane(reader, &reader->lanes[i]);
	reader->count = 0;
	if (reader->folder)
		closedir(reader->folder);
	reader->folder = NULL;
}

static void open_part(struct reader *reader, const char *path)
{
	struct lane_name *names;
	size_t count;

	close_part(reader);
	reader->folder = lane_folder(path);
	if (!reader->folder) {
		note_trouble(reader, errno);
		return;
	}
	count = lane_list(reader->folder, &names);
	for (size_t i = 0; i < count; i++)
		add_lane(reader, names[i]);
	free(names);
	for (size_t i = reader->count / 2; i-- > 0;)
		sink(reader, i);
}

struct reader *reader_new(const struct recording *recording, size_t boot)
{
	struct reader *reader = util_alloc(sizeof(*reader));

	reader->recording = recording;
	reader->boot = &recording->boots[boot];
	reader->next_part = reader->boot->first;
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	close_part(reader);
	free(reader->lanes);
	free(reader);
}

bool reader_peek(struct reader *reader, uint64_t *end)
{
	const struct recording_boot *boot = reader->boot;

	while (!reader->count && reader->next_part < boot->first + boot->parts &&
			!recording_given_up(&reader->recording->patience))
		open_part(reader, reader->recording->parts[reader->next_part++].path);
	if (!reader->count)
		return false;
	*end = reader->lanes[0].packet.end;
	return true;
}

size_t reader_read(struct reader *reader, void *to, size_t room)
{
	uint64_t end;

	while (reader_peek(reader, &end)) {
		struct recording_lane *lane = &reader->lanes[0];
		size_t size = lane->packet.size;

		if (size > room)
			return 0;
		if (!open_lane(reader, lane) || !lane_read(lane, to)) {
			drop_top(reader);
			continue;
		}
		advance_top(reader);
		reader->given++;
		return size;
	}
	return 0;
}

uint64_t reader_missing(const struct reader *reader)
{
	const struct recording_boot *boot = reader->boot;
	uint64_t packets = 0;

	for (size_t i = boot->first; i < boot->first + boot->parts; i++)
		packets += reader->recording->parts[i].packets;
	return reader->count || reader->next_part < boot->first + boot->parts || packets < reader->given ?
		0 : packets - reader->given;
}

char *reader_failure(const struct reader *reader)
{
	return reader->trouble ? util_format("the recording was not read to its end: %s; %s", strerror(reader->trouble),
		util_open_remedy(reader->trouble, "copy it to a place where nobody changes it")) : NULL;
}
