/* SPDX-License-Identifier: MIT */
/*
 * What a recording writes, in a thread of its own, for a disk may be slow: the calls never wait, and
 * are obeyed in order. The first failure ends it; more than it may keep, when the disk is too slow,
 * is a failure.
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
	RECORD_WAITING_MAX = 32 << 20,	/* bytes of packets that wait */
};

/* The folder is there. `parts`: so many are kept, the oldest goes; 0: all are. */
struct record_writer *record_writer_new(const char *folder, uint32_t parts);

/*
 * A part, what it is read by, its packets, and its end. What it is read by may be written again, and
 * comes before the packets that need it. `goes_on`: a boot of which there is a part; of boots there
 * are no more than some thousand.
 */
void record_writer_begin(struct record_writer *writer, const uint8_t *boot_id, bool goes_on);
void record_writer_metadata(struct record_writer *writer, const char *text, size_t size);
bool record_writer_packet(struct record_writer *writer, const struct packet *packet);
void record_writer_end(struct record_writer *writer);

bool record_writer_failed(struct record_writer *writer);
bool record_writer_why(struct record_writer *writer, char *text, size_t size);	/* likewise, and why */
bool record_writer_writes(struct record_writer *writer);	/* there is something in work */

/* Waits until all is on the disk, and frees. False with `error` set when anything was not written. */
bool record_writer_close(struct record_writer *writer, char **error);
void record_writer_leave(struct record_writer *writer);		/* it ends, and frees, by itself */

#endif
