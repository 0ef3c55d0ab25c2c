/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording in a thread of its own, for a disk may be slow. What is to be written becomes a job for that
 * thread, which does its jobs in order. No call but record_writer_close waits. The first failure ends the
 * recording; a disk so slow that more than RECORD_WAITING_MAX waits is such a failure.
 */
#ifndef RECORD_WRITER_H
#define RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;
struct record_writer;

enum {
	RECORD_BOOT_ID = 16,
	RECORD_WAITING_MAX = 32 << 20,	/* bytes of packets that may wait to be written */
};

/* The folder must exist. `parts`: the most that are kept: the oldest is removed for a new one; 0: all. */
struct record_writer *record_writer_new(const char *folder, uint32_t parts);

/*
 * A part begins, gets its metadata and packets, and ends. The metadata may be written again; it goes before
 * the packets that need it. `goes_on`: the boot has a part already. A recording has a thousand boots at
 * most. False: too much waits already; the packet is refused, and the recording has failed.
 */
void record_writer_begin(struct record_writer *writer, const uint8_t *boot_id, bool goes_on);
void record_writer_metadata(struct record_writer *writer, const char *text, size_t size);
bool record_writer_packet(struct record_writer *writer, const struct packet *packet);
void record_writer_end(struct record_writer *writer);

bool record_writer_failed(struct record_writer *writer);	/* the recording has ended by a failure */
bool record_writer_why(struct record_writer *writer, char *text, size_t size);	/* the same; `text`: why */
bool record_writer_writes(struct record_writer *writer);	/* true while something is still to be written */

/* Waits until all is on the disk, and frees. False with `error` set if anything was not written. */
bool record_writer_close(struct record_writer *writer, char **error);

/* Gives the writer up without waiting. Its thread writes the rest, and frees it. */
void record_writer_leave(struct record_writer *writer);

#endif
