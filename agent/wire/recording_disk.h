/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording in a thread of its own, for a disk may be slow. What is to be written becomes a job for that
 * thread, which does its jobs in order. No call waits but recording_disk_wait, recording_disk_close and
 * recording_disk_remove. The first failure ends the recording; a disk so slow that more than RECORDING_WAITING_MAX
 * waits is such a failure.
 */
#ifndef RECORDING_DISK_H
#define RECORDING_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;
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
void recording_disk_metadata(struct recording_disk *disk, const char *text, size_t size);
bool recording_disk_packet(struct recording_disk *disk, const struct packet *packet);
void recording_disk_end(struct recording_disk *disk);

/* Waits while much is still to be written. */
void recording_disk_wait(struct recording_disk *disk);

bool recording_disk_failed(struct recording_disk *disk);	/* the recording has ended by a failure */
bool recording_disk_why(struct recording_disk *disk, char *text, size_t size);	/* the same; `text`: why */
bool recording_disk_busy(struct recording_disk *disk);	/* true while something is still to be written */

/* Waits until all is on the disk, and frees. False with `error` set if anything was not written. */
bool recording_disk_close(struct recording_disk *disk, char **error);

/* Removes a part with all its files. False with errno set. */
bool recording_disk_remove(const char *part);

/* Gives the disk up without waiting. Its thread writes the rest, and frees it. */
void recording_disk_leave(struct recording_disk *disk);

#endif
