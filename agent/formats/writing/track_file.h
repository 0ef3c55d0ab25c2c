/* SPDX-License-Identifier: MIT */
/*
 * Records of a fixed size that come in one order and are read track by track, such as the samples of each CPU. So a set
 * is read once, however many tracks a format has. Full blocks go to a temporary file without a name; a track's last
 * block is in memory.
 */
#ifndef TRACK_FILE_H
#define TRACK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct track_file;

/* NULL: there is no memory for so many tracks. */
struct track_file *track_file_new(struct budget *budget, uint32_t tracks, size_t record_size);
void track_file_free(struct track_file *file);	/* NULL is allowed */

/* Without memory, or room on the disk, the record is missing, and track_file_whole says so from then on. */
void track_file_add(struct track_file *file, uint32_t track, const void *record);
uint64_t track_file_count(const struct track_file *file, uint32_t track);

/* Calls `each` with the records of a track, as they came. */
void track_file_read(struct track_file *file, uint32_t track, void (*each)(void *context, const void *record),
	void *context);

/* False with `error` set: records are missing. */
bool track_file_whole(const struct track_file *file, char **error);

#endif
