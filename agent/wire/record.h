/* SPDX-License-Identifier: MIT */
/*
 * A raw recording: a folder of CTF 1.8 traces, one per boot (and per state that a boot was put back
 * to), named by the boot id. In it one file per stream and CPU (meta_0, samples_0, trace_3), the
 * packets verbatim, and the `metadata` text. A trace's folder is called BOOT.partial until the boot
 * is over or the recording closed, so that it is whole or visibly partial.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct event;
struct packet;
struct record;

/* Makes `folder`, which must not exist or be empty. NULL with `error` set (freed by the caller). */
struct record *record_new(const char *folder, char **error);

/*
 * To be called for each packet, and then for its events. A failed write ends the recording. All that
 * is wanted of the disk is done beside (record_writer.h): neither waits.
 */
void record_packet(struct record *record, const struct packet *packet);
void record_event(struct record *record, const struct event *event);

/* Has it ended, by a failure? Then `text` says which. */
bool record_failed(struct record *record, char *text, size_t size);

/* Nothing more is to come: is its end still in work? */
bool record_writes(struct record *record);

/* Waits until all is on the disk, and frees. False with `error` set when anything was not written. */
bool record_close(struct record *record, char **error);

#endif
