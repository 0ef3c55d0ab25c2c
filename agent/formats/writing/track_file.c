/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/samples/sample_set.h"
#include "track_file.h"

enum { BLOCK = 64 };			/* records */

struct track {
	char *block;			/* its last records; NULL: it has none yet */
	uint32_t *blocks;		/* where those before them are in the file, in blocks */
	uint32_t block_count, block_room;
	uint32_t count;			/* of records in `block` */
};

struct track_file {
	struct budget *budget;
	int fd;				/* -1: no file was needed so far */
	size_t size;			/* of a block, in bytes */
	uint32_t written, track_count;	/* blocks in the file; tracks */
	int trouble;			/* errno of the file; 0: it has none */
	bool full;			/* there was no memory for a record */
	struct track *tracks;
};

struct track_file *track_file_new(struct budget *budget, uint32_t tracks, size_t record_size)
{
	struct track_file *file = util_alloc(sizeof(*file));

	*file = (struct track_file) {
		.budget = budget, .fd = -1, .size = BLOCK * record_size, .track_count = tracks,
		.tracks = budget_resize(budget, NULL, 0, tracks * sizeof(*file->tracks)),
	};
	if (!file->tracks) {
		free(file);
		return NULL;
	}
	memset(file->tracks, 0, tracks * sizeof(*file->tracks));
	return file;
}

void track_file_free(struct track_file *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; i < file->track_count; i++) {
		const struct track *track = &file->tracks[i];

		budget_free(file->budget, track->block, track->block ? file->size : 0);
		budget_free(file->budget, track->blocks, track->block_room * sizeof(*track->blocks));
	}
	if (file->fd >= 0)
		close(file->fd);
	budget_free(file->budget, file->tracks, file->track_count * sizeof(*file->tracks));
	free(file);
}

/* A track's block goes to the file. */
static bool empty(struct track_file *file, struct track *track)
{
	uint32_t *blocks = budget_array(file->budget, track->blocks, track->block_count, &track->block_room,
		sizeof(*blocks));

	if (!blocks)
		return false;
	track->blocks = blocks;
	if (file->fd < 0)
		file->fd = unnamed_file_open(unnamed_file_folder());
	if (file->fd < 0 || !unnamed_file_write(file->fd, track->block, file->size, file->written * file->size)) {
		file->trouble = errno;
		return false;
	}
	blocks[track->block_count++] = file->written++;
	track->count = 0;
	return true;
}

static bool have_room(struct track_file *file, struct track *track)
{
	if (!track->block)
		track->block = budget_resize(file->budget, NULL, 0, file->size);
	return track->block && (track->count < BLOCK || empty(file, track));
}

void track_file_add(struct track_file *file, uint32_t number, const void *record)
{
	struct track *track = &file->tracks[number];

	if (file->full || file->trouble)
		return;
	if (have_room(file, track))
		memcpy(track->block + track->count++ * (file->size / BLOCK), record, file->size / BLOCK);
	else
		file->full = true;
}

uint64_t track_file_count(const struct track_file *file, uint32_t track)
{
	return (uint64_t)file->tracks[track].block_count * BLOCK + file->tracks[track].count;
}

static void read_block(const struct track_file *file, const char *block, uint32_t count,
	void (*each)(void *context, const void *record), void *context)
{
	for (uint32_t i = 0; i < count; i++)
		each(context, block + i * (file->size / BLOCK));
}

void track_file_read(struct track_file *file, uint32_t number, void (*each)(void *context, const void *record),
	void *context)
{
	const struct track *track = &file->tracks[number];
	char *block = util_alloc(file->size);

	for (uint32_t i = 0; i < track->block_count && !file->trouble; i++) {
		if (unnamed_file_read(file->fd, block, file->size, track->blocks[i] * file->size))
			read_block(file, block, BLOCK, each, context);
		else
			file->trouble = errno;
	}
	if (track->count)
		read_block(file, track->block, track->count, each, context);
	free(block);
}

bool track_file_whole(const struct track_file *file, char **error)
{
	if (file->trouble)
		return util_fail(error, "the temporary file with the tracks failed: %s; "
			"set TMPDIR to a folder with room", strerror(file->trouble));
	return !file->full || util_fail(error, "%s", sample_set_no_memory);
}
