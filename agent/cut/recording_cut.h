/* SPDX-License-Identifier: MIT */
/*
 * Cuts a boot of a recording to a range of time: another recording. Its samples and trace events are those of the
 * range, and the books of each lane begin with the first of them. What the guest has told before the range and behind
 * it is there, too, as told when the range begins or ends: without it, names would be missing. Only the states of the
 * profiler that came behind it are left out.
 */
#ifndef RECORDING_CUT_H
#define RECORDING_CUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/recording_writer.h"

struct recording;

struct recording_cut {
	size_t boot;			/* its index in the recording */
	uint64_t from, to;		/* guest ns: from <= time < to; UINT64_MAX: to the end */
	atomic_bool *stop;		/* any thread may set it, to give it up */
	atomic_uint *done;		/* thousandths */
};

/*
 * Writes it to a folder with another name, which gets the name `folder` when all is written: one that is not there, or
 * is empty. False with `error` set: then nothing is left. Waits for the disk.
 */
bool recording_cut_write(const struct recording *recording, const struct recording_cut *cut, const char *folder,
	struct recording_sums *sums, char **error);

/* The process ends while a thread of it is in recording_cut_write: removes what that has written. */
void recording_cut_abandon(const char *folder);

/* ---- partial folder ---- */

/*
 * The folder of a recording while it is written: it has another name, DIR.partial, and gets its own when all is
 * written. All calls may wait for the disk.
 */

/* Makes it, and returns its name in fresh memory. NULL with `error` set. `folder` is not there, or is empty. */
char *partial_folder_new(const char *folder, char **error);

/* Both free the name. False with `error` set: then it is removed. */
bool partial_folder_commit(char *partial, const char *folder, char **error);
void partial_folder_discard(char *partial);	/* NULL is allowed */

/* The folder's name, or if that is taken, with "-2", "-3" ... before its last dot. In fresh memory. */
char *partial_folder_unused(const char *folder);

#endif
