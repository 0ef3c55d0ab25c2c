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

/* The folder is there. */
struct record_writer *record_writer_new(const char *folder);

/* An epoch's folder, its packets, and its end. */
void record_writer_begin(struct record_writer *writer, const uint8_t *boot_id);
bool record_writer_packet(struct record_writer *writer, const struct packet *packet);
void record_writer_end(struct record_writer *writer, const char *metadata, size_t size);

bool record_writer_failed(struct record_writer *writer);
bool record_writer_why(struct record_writer *writer, char *text, size_t size);	/* likewise, and why */
bool record_writer_writes(struct record_writer *writer);	/* there is something in work */

/* Waits until all is on the disk, and frees. False with `error` set when anything was not written. */
bool record_writer_close(struct record_writer *writer, char **error);

#endif
