/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "kernel-hook/wire.h"
#include "recording.h"
#include "recording_lane.h"
#include "recording_repair.h"

#define PARTIAL ".partial"

/* Writes the whole packets to a new file, which takes the place of this one. */
static bool write_anew(struct recording_lane *lane, const char *path, char **error)
{
	uint8_t packet[KTOP_PACKET_MAX];
	struct util_file *file = util_file_open(path, error);

	if (!file)
		return false;
	for (lane_begin(lane, NULL); lane->packet.size; lane_next(lane))
		if (lane_read(lane, packet))
			fwrite(packet, 1, lane->packet.size, util_file_stream(file));
	return util_file_commit(file, error);
}

static bool is_damaged(struct recording_lane *lane)
{
	lane_begin(lane, NULL);
	while (lane->packet.size)
		lane_next(lane);
	return lane->skipped > 0;
}

static bool repair_file(const char *path, struct recording_lane *lane, int folder,
	struct recording_repaired *done, char **error)
{
	bool good = true;

	if (!lane_open(lane, folder))
		return true;
	if (is_damaged(lane)) {
		done->files++;
		done->bytes += lane->skipped;
		good = write_anew(lane, path, error);
	}
	lane_close(lane);
	return good;
}

static bool repair_files(const struct recording_part *part, struct recording_repaired *done, char **error)
{
	DIR *entries = opendir(part->path);
	struct dirent *entry;
	bool good = entries || util_fail(error, "%s: not repaired: %s; record again", part->path,
		strerror(errno));

	while (good && (entry = readdir(entries))) {
		struct recording_lane lane = { .fd = -1 };
		char *path = util_format("%s/%s", part->path, entry->d_name);

		if (lane_named(entry->d_name, &lane.stream, &lane.cpu))
			good = repair_file(path, &lane, dirfd(entries), done, error);
		free(path);
	}
	if (entries)
		closedir(entries);
	return good;
}

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

bool recording_repair(const struct recording *recording, struct recording_repaired *done, char **error)
{
	bool good = true;

	*done = (struct recording_repaired){ 0 };
	for (size_t i = 0; good && i < recording->part_count; i++) {
		const struct recording_part *part = &recording->parts[i];

		good = repair_files(part, done, error);
		if (good && part->partial)
			good = end_part(part, done, error);
	}
	return good;
}
