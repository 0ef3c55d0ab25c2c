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
#include "decode.h"
#include "metadata.h"
#include "recording.h"
#include "recording_reader.h"
#include "recording_repair.h"

#define PARTIAL ".partial"

/* ---- packets ---- */

/* What cannot be read now may be whole: nothing of it is removed. */
static bool fail_to_read(const struct recording_lane *lane, const char *path, char **error)
{
	return util_fail(error, "%s: not repaired: it cannot be read: %s; copy it to another disk, and repair the copy",
		path, strerror(lane->error));
}

/* Writes the whole packets to a new file, which takes the place of this one. */
static bool write_anew(struct recording_lane *lane, const uint8_t *boot_id, const char *path, char **error)
{
	uint8_t packet[KTOP_PACKET_MAX];
	struct util_file *file = util_file_open(path, error);

	if (!file)
		return false;
	for (lane_begin(lane, boot_id); lane->packet.size; lane_next(lane))
		if (lane_read(lane, packet))
			fwrite(packet, 1, lane->packet.size, util_file_stream(file));
	if (!lane->error)
		return util_file_commit(file, error);
	util_file_discard(file);
	return fail_to_read(lane, path, error);
}

static bool is_damaged(struct recording_lane *lane, const uint8_t *boot_id)
{
	lane_begin(lane, boot_id);
	while (lane->packet.size)
		lane_next(lane);
	return lane->skipped > 0;
}

static bool repair_file(const char *folder, struct recording_lane *lane, const uint8_t *boot_id,
	struct recording_repaired *done, char **error)
{
	char *path = lane_path(folder, lane->stream, lane->cpu);
	bool damaged = is_damaged(lane, boot_id), good = !lane->error || fail_to_read(lane, path, error);

	if (good && damaged) {
		uint64_t removed = lane->skipped;

		good = write_anew(lane, boot_id, path, error);
		done->files += good;
		done->bytes += good ? removed : 0;
	}
	free(path);
	return good;
}

static bool repair_files(const struct recording_part *part, const uint8_t *boot_id,
	struct recording_repaired *done, char **error)
{
	DIR *folder = lane_folder(part->path);
	struct lane_name *names;
	bool good = true;
	size_t count;

	if (!folder)
		return util_fail(error, "%s: not repaired: %s; %s", part->path, strerror(errno),
			util_open_remedy(errno, "may you read it?"));
	count = lane_list(folder, &names);
	for (size_t i = 0; good && i < count; i++) {
		struct recording_lane lane = { .stream = names[i].stream, .cpu = names[i].cpu, .fd = -1 };

		if (lane_open(&lane, dirfd(folder)))
			good = repair_file(part->path, &lane, boot_id, done, error);
		lane_close(&lane);
	}
	free(names);
	closedir(folder);
	return good;
}

/* ---- metadata ---- */

static bool ends_whole(int fd)
{
	char end[sizeof(METADATA_END) - 1];
	struct stat is;

	return fstat(fd, &is) == 0 && is.st_size >= (off_t)sizeof(end) &&
		pread(fd, end, sizeof(end), is.st_size - (off_t)sizeof(end)) == (ssize_t)sizeof(end) &&
		memcmp(end, METADATA_END, sizeof(end)) == 0;
}

static bool is_described(const struct recording_part *part)
{
	char *path = util_format("%s/metadata", part->path);
	int fd = util_file_read(AT_FDCWD, path, O_NOFOLLOW, NULL);
	bool whole = fd >= 0 && ends_whole(fd);

	if (fd >= 0)
		close(fd);
	free(path);
	return whole;
}

static void no_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static void take_packet(void *context, const struct packet *packet)
{
	metadata_packet(context, packet);
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

/* What its old text still says of the guest may stand in no packet any more. */
static void take_said(struct metadata *metadata, const struct recording_part *part)
{
	DIR *folder = lane_folder(part->path);
	char *text = folder ? metadata_text_read(dirfd(folder)) : NULL;
	struct metadata_said said;
	const char *at = NULL;

	while (text && metadata_text_said(text, &at, &said))
		metadata_take(metadata, said.id, said.payload, said.size);
	free(text);
	if (folder)
		closedir(folder);
}

/* Reads the packets through a decoder, which checks them: so far only their headers are known to be right. */
static struct metadata *describe(const struct recording *recording, size_t boot)
{
	const struct recording_boot *is = &recording->boots[boot];
	const struct metadata_machine machine = { .name = is->machine, .kernel = is->kernel };
	struct metadata *metadata = metadata_new(&machine);
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = metadata, .boot = no_boot, .packet = take_packet, .events = no_events,
	});
	struct reader *reader = reader_new(recording, boot);
	uint8_t bytes[KTOP_PACKET_MAX];
	size_t got;

	for (size_t i = is->first; i < is->first + is->parts; i++)
		take_said(metadata, &recording->parts[i]);
	while ((got = reader_read(reader, bytes, sizeof(bytes))))
		decode_feed(decode, bytes, got);
	reader_free(reader);
	decode_free(decode);
	return metadata;
}

/* A symbolic link in its place is removed, not followed. */
static bool write_description(const struct recording_part *part, const struct metadata *metadata,
	const uint8_t *boot_id, char **error)
{
	char *path = util_format("%s/metadata", part->path);
	struct util_file *file;
	struct stat is;

	if (lstat(path, &is) == 0 && S_ISLNK(is.st_mode))
		unlink(path);
	file = util_file_open(path, error);
	free(path);
	if (!file)
		return false;
	metadata_write(metadata, boot_id, util_file_stream(file));
	return util_file_commit(file, error);
}

/* Reads all packets of the boot, but only if the metadata of one of its parts is missing or cut. */
static bool repair_metadata(const struct recording *recording, size_t boot, struct recording_repaired *done,
	char **error)
{
	const struct recording_boot *is = &recording->boots[boot];
	struct metadata *metadata = NULL;
	bool good = true;

	for (size_t i = is->first; good && i < is->first + is->parts; i++) {
		const struct recording_part *part = &recording->parts[i];

		if (is_described(part))
			continue;
		if (!metadata)
			metadata = describe(recording, boot);
		good = write_description(part, metadata, is->boot_id, error);
		done->described += good;
	}
	metadata_free(metadata);
	return good;
}

/* ---- the whole ---- */

/* Gives the part the name that it would have got at its end. */
static bool end_part(const struct recording_part *part, struct recording_repaired *done, char **error)
{
	char *final = util_copy(part->path, strlen(part->path) - strlen(PARTIAL));
	bool good = renameat2(AT_FDCWD, part->path, AT_FDCWD, final, RENAME_NOREPLACE) == 0 ||
		util_fail(error, "%s: not repaired: it cannot be renamed: %s; rename it by hand", part->path,
			strerror(errno));

	done->ended += good;
	free(final);
	return good;
}

static bool repair_boot(const struct recording *recording, size_t boot, struct recording_repaired *done,
	char **error)
{
	const struct recording_boot *is = &recording->boots[boot];
	bool good = repair_metadata(recording, boot, done, error);

	for (size_t i = is->first; good && i < is->first + is->parts; i++) {
		const struct recording_part *part = &recording->parts[i];

		good = repair_files(part, is->boot_id, done, error);
		if (good && part->partial)
			good = end_part(part, done, error);
	}
	return good;
}

bool recording_repair(const struct recording *recording, struct recording_repaired *done, char **error)
{
	bool good = true;

	*done = (struct recording_repaired) { 0 };
	for (size_t i = 0; good && i < recording->boot_count; i++)
		good = repair_boot(recording, i, done, error);
	return good;
}
