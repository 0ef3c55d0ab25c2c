/* SPDX-License-Identifier: MIT */
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
#include "recording_lane.h"

enum {
	HEADER = sizeof(struct ktop_wire_packet),
	SEARCH_BYTES = 65536,		/* read at a time */
};

static const char *const names[STREAMS] = { "meta", "samples", "trace" };

static bool read_name(const char *name, struct lane_name *read)
{
	for (int i = 0; i < STREAMS; i++) {
		size_t size = strlen(names[i]);
		const char *digits = name + size + 1;
		char *end;
		unsigned long number;

		if (strncmp(name, names[i], size) != 0 || name[size] != '_' || digits[0] < '0' ||
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
	return util_format("%s/%s_%u", folder, names[stream], cpu);
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

	snprintf(name, sizeof(name), "%s_%u", names[lane->stream], lane->cpu);
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
