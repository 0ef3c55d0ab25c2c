/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "kernel-hook/wire.h"
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

/* ---- one file of it ---- */

enum {
	HEADER = sizeof(struct ktop_wire_packet),
	SEARCH_BYTES = 65536,		/* read at a time */
};

static const char *const lane_names[STREAMS] = { "meta", "samples", "trace" };

static bool read_name(const char *name, struct lane_name *read)
{
	for (int i = 0; i < STREAMS; i++) {
		size_t size = strlen(lane_names[i]);
		const char *digits = name + size + 1;
		char *end;
		unsigned long number;

		if (strncmp(name, lane_names[i], size) != 0 || name[size] != '_' || digits[0] < '0' ||
				digits[0] > '9' || (digits[0] == '0' && digits[1]))
			continue;
		number = strtoul(digits, &end, 10);
		*read = (struct lane_name) { .stream = (enum stream)i, .cpu = (uint32_t)number };
		return !*end && strlen(digits) < 6 && number < EVENT_CPUS;
	}
	return false;
}

char *lane_path(const char *folder, enum stream stream, uint32_t cpu)
{
	return util_format("%s/%s_%u", folder, lane_names[stream], cpu);
}

static int compare_names(const void *one, const void *other)
{
	const struct lane_name *a = one, *b = other;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

size_t lane_list(DIR *folder, struct lane_name **list)
{
	struct dirent *entry;
	struct lane_name name;
	size_t count = 0;

	*list = NULL;
	while ((entry = readdir(folder)))
		if (read_name(entry->d_name, &name)) {
			*list = util_grow(*list, count + 1, sizeof(name));
			(*list)[count++] = name;
		}
	if (count)
		qsort(*list, count, sizeof(name), compare_names);
	return count;
}

DIR *lane_folder(const char *path)
{
	DIR *folder = opendir(path);

	if (!folder && errno == ENOMEM)
		util_no_memory();
	return folder;
}

bool lane_open(struct recording_lane *lane, int folder)
{
	char name[32];
	struct stat is;

	snprintf(name, sizeof(name), "%s_%u", lane_names[lane->stream], lane->cpu);
	lane->fd = util_file_read(folder, name, O_NOFOLLOW, NULL);
	if (lane->fd >= 0 && fstat(lane->fd, &is) == 0) {
		if (!lane->size)
			lane->size = (uint64_t)is.st_size;
		return true;
	}
	lane_close(lane);
	return false;
}

void lane_close(struct recording_lane *lane)
{
	if (lane->fd >= 0)
		close(lane->fd);
	lane->fd = -1;
}

/* Returns how many bytes were read. At an error the file seems to end, and the lane notes the error. */
static size_t read_at(struct recording_lane *lane, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(lane->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno != EINTR)
			lane->error = errno;
		if (got == 0 || lane->error)
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	return done;
}

bool recording_given_up(const struct recording_patience *patience)
{
	return patience && patience->given_up && patience->given_up(patience->context);
}

static bool is_of_boot(const struct recording_lane *lane, const struct ktop_wire_packet *wire)
{
	return !lane->booted || memcmp(lane->boot_id, wire->boot_id, LANE_BOOT_ID) == 0;
}

/* If `wire`, from this offset, is a header, and its packet is all in the file, that is the lane's next packet. */
static bool take_packet(struct recording_lane *lane, uint64_t offset, const struct ktop_wire_packet *wire)
{
	if (wire->magic != KTOP_MAGIC || wire->stream != lane->stream || wire->cpu != lane->cpu ||
			wire->begin > wire->end || wire->content_size != wire->packet_size ||
			wire->packet_size % 8 || wire->packet_size / 8 < HEADER ||
			wire->packet_size / 8 > KTOP_PACKET_MAX ||
			wire->packet_size / 8 > lane->size - offset || !is_of_boot(lane, wire))
		return false;
	memcpy(lane->boot_id, wire->boot_id, LANE_BOOT_ID);
	lane->booted = true;
	lane->packet = (struct lane_packet) { .offset = offset, .size = (uint32_t)(wire->packet_size / 8),
		.begin = wire->begin, .end = wire->end };
	return true;
}

/* Returns the offset of the next packet, or the file's end. Reads each byte about once, whatever it finds. */
static uint64_t search(struct recording_lane *lane, uint64_t offset)
{
	static const uint32_t magic = KTOP_MAGIC;
	uint8_t bytes[SEARCH_BYTES];

	while (lane->size - offset >= HEADER && !recording_given_up(lane->patience)) {
		size_t got = read_at(lane, bytes, sizeof(bytes), offset);
		const uint8_t *at = bytes, *last = bytes + got - (HEADER - 1);

		if (got < HEADER)
			break;
		while (at < last && (at = memmem(at, (size_t)(bytes + got - at), &magic, sizeof(magic))) &&
				at < last) {
			struct ktop_wire_packet wire;

			memcpy(&wire, at, HEADER);
			if (take_packet(lane, offset + (uint64_t)(at - bytes), &wire))
				return lane->packet.offset;
			at++;
		}
		offset += (uint64_t)(last - bytes);
	}
	return lane->size;
}

static void seek(struct recording_lane *lane, uint64_t offset)
{
	struct ktop_wire_packet wire;

	lane->packet.size = 0;
	if (lane->size - offset >= HEADER && read_at(lane, &wire, HEADER, offset) == HEADER &&
			take_packet(lane, offset, &wire))
		return;
	lane->skipped += search(lane, offset) - offset;
}

void lane_begin(struct recording_lane *lane, const uint8_t *boot_id)
{
	lane->booted = boot_id;
	if (boot_id)
		memcpy(lane->boot_id, boot_id, LANE_BOOT_ID);
	lane->skipped = 0;
	lane->error = 0;
	seek(lane, 0);
}

void lane_next(struct recording_lane *lane)
{
	seek(lane, lane->packet.offset + lane->packet.size);
}

bool lane_read(struct recording_lane *lane, void *to)
{
	return read_at(lane, to, lane->packet.size, lane->packet.offset) == lane->packet.size;
}
