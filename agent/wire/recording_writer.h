/* SPDX-License-Identifier: MIT */
/*
 * A recording is a folder of parts. Each part is a CTF 1.8 trace: a file per stream and CPU (meta_0,
 * samples_0, trace_3) with the packets verbatim, and the `metadata` text, which is written before the
 * packets that need it. A new part begins with each boot, when a boot is put back to an earlier state, and
 * when the part before is full. Parts are numbered as they come, and named after the boot id: 0001-BOOT.
 * While a part is written, it is called 0001-BOOT.partial. A recorder that is killed, or has no more room,
 * leaves it under that name, readable.
 */
#ifndef RECORDING_WRITER_H
#define RECORDING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metadata_machine;
struct packet;
struct recording_writer;

struct recording_options {
	const char *folder;
	uint64_t part_bytes;		/* the most for a part, names aside (see is_full); 0: no limit */
	bool walks;			/* for capture.h: raw samples become walked ones, where all is known of them */
	uint32_t parts;			/* the most that are kept: the oldest is removed for a new one; 0: all */
};

/* All that was recorded so far, removed parts included. */
struct recording_sums {
	uint64_t packets, bytes, samples, events;	/* events: all but samples */
	uint32_t boots;
};

/* Makes the folder, or checks that it is empty. False with `error` set. May wait for the disk. */
bool recording_folder(const char *folder, char **error);
void recording_remove(const char *folder);	/* with its parts, of a recording that has failed; waits for the disk */

/*
 * Begins a recording in a folder that recording_folder has made. A thread of its own does what waits for the
 * disk (recording_writer.h): of the calls below, only recording_writer_wait and recording_writer_close wait.
 */
struct recording_writer *recording_writer_new(const struct recording_options *options,
	const struct metadata_machine *machine);

/*
 * Records one packet; to be called for each. A failed write ends the recording. Returns true if the packet
 * has begun a part in the middle of a boot. That part lacks the names and facts that the guest has told before,
 * so the caller asks the guest to tell them again.
 */
bool recording_writer_packet(struct recording_writer *writer, const struct packet *packet);

/*
 * For packets that come faster than a disk takes them, out of a file: after each, waits until not much is still to be
 * written.
 */
void recording_writer_wait(struct recording_writer *writer);

/* What waits to be written is included. */
struct recording_sums recording_writer_sums(const struct recording_writer *writer);

/* True if a failure has ended it; `text` then says which. */
bool recording_writer_failed(struct recording_writer *writer, char *text, size_t size);

/* Ends the last part; no packet may follow. True: some of it is not written yet. Does not wait: ask again. */
bool recording_writer_busy(struct recording_writer *writer);

/* Waits until all is on the disk, and frees. False with `error` set if anything was not written. */
bool recording_writer_close(struct recording_writer *writer, char **error);

/* Frees it without waiting: the thread writes the rest, and ends. NULL is allowed. */
void recording_writer_leave(struct recording_writer *writer);

/* ---- recording disk ---- */

/*
 * Writes a recording in a thread of its own, for a disk may be slow. What is to be written becomes a job for that
 * thread, which does its jobs in order. No call waits but recording_disk_wait, recording_disk_close and
 * recording_disk_remove. The first failure ends the recording; a disk so slow that more than RECORDING_WAITING_MAX
 * waits is such a failure.
 */

struct recording_disk;

enum {
	RECORDING_BOOT_ID = 16,
	RECORDING_WAITING_MAX = 32 << 20,	/* bytes of packets that may wait to be written */
};

/* The folder must exist. `parts`: the most that are kept: the oldest is removed for a new one; 0: all. */
struct recording_disk *recording_disk_new(const char *folder, uint32_t parts);

/*
 * A part begins, gets its metadata and packets, and ends. The metadata may be written again; it goes before
 * the packets that need it. `goes_on`: the boot has a part already. A recording has a thousand boots at
 * most. False: too much waits already; the packet is refused, and the recording has failed.
 */
void recording_disk_begin(struct recording_disk *disk, const uint8_t *boot_id, bool goes_on);
void recording_disk_end(struct recording_disk *disk);

/* Waits until all is on the disk, and frees. False with `error` set if anything was not written. */
bool recording_disk_close(struct recording_disk *disk, char **error);

#endif
