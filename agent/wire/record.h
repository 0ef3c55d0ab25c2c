/* SPDX-License-Identifier: MIT */
/*
 * A recording is a folder of parts. Each part is a CTF 1.8 trace: a file per stream and CPU (meta_0,
 * samples_0, trace_3) with the packets verbatim, and the `metadata` text, which is written before the
 * packets that need it. A new part begins with each boot, when a boot is put back to an earlier state, and
 * when the part before is full. Parts are numbered as they come, and named after the boot id: 0001-BOOT.
 * While a part is written, it is called 0001-BOOT.partial. A recorder that is killed, or has no more room,
 * leaves it under that name, readable.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metadata_machine;
struct packet;
struct record;

struct record_options {
	const char *folder;
	uint64_t part_bytes;		/* the most for a part, names aside (is_full in record.c); 0: no limit */
	uint32_t parts;			/* the most that are kept: the oldest is removed for a new one; 0: all */
};

/* All that was recorded so far, removed parts included. */
struct record_sums {
	uint64_t packets, bytes, samples, events;	/* events: all but samples */
	uint32_t boots;
};

/* Makes the folder, or checks that it is empty. False with `error` set. May wait for the disk. */
bool record_folder(const char *folder, char **error);

/*
 * Begins a recording in a folder that record_folder has made. A thread of its own does what waits for the
 * disk (record_writer.h): of the calls below, only record_close waits.
 */
struct record *record_new(const struct record_options *options, const struct metadata_machine *machine);

/*
 * Records one packet; to be called for each. A failed write ends the recording. Returns true if the packet
 * has begun a part in the middle of a boot. That part lacks the names and facts that the guest has told before,
 * so the caller asks the guest to tell them again.
 */
bool record_packet(struct record *record, const struct packet *packet);

struct record_sums record_sums(const struct record *record);	/* what waits to be written is included */

/* True if a failure has ended it; `text` then says which. */
bool record_failed(struct record *record, char *text, size_t size);

/* Ends the last part; no packet may follow. True: some of it is not written yet. Does not wait: ask again. */
bool record_writes(struct record *record);

/* Waits until all is on the disk, and frees. False with `error` set if anything was not written. */
bool record_close(struct record *record, char **error);

/* Frees it without waiting: the thread writes the rest, and ends. NULL is allowed. */
void record_leave(struct record *record);

#endif
