/* SPDX-License-Identifier: MIT */
/* A snapshot that is a recording: cut out of the one that is played, or made of the samples that were kept. */
#ifndef SAVED_RECORDING_H
#define SAVED_RECORDING_H

#include <stddef.h>
#include <stdint.h>

struct kept_recording;
struct saved_recording;

/* Takes over the samples, whose epoch must outlive it. */
struct saved_recording *saved_recording_kept(struct kept_recording *kept);
/* A boot of the recording in this folder, by its index. Guest ns: from <= time < to; UINT64_MAX: to the end. */
struct saved_recording *saved_recording_cut(const char *folder, size_t boot, uint64_t from, uint64_t to);
void saved_recording_free(struct saved_recording *saved);	/* any thread; NULL is allowed */

/*
 * Writes it to the folder `path`, or to one with the first free name that is made of it. Returns what to say of it, in
 * fresh memory; NULL with `error` set. Any thread; waits for the disk.
 */
char *saved_recording_write(struct saved_recording *saved, const char *path, char **error);

#endif
