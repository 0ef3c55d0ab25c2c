/*
 * A raw recording: a folder of CTF 1.8 traces, one folder per boot, one file per stream and CPU, the
 * packets verbatim, and a `metadata` text made from the descriptors that were received. Files carry
 * a temporary name until record_close, so that a recording is whole or visibly partial.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>

struct event;
struct packet;
struct record;

/* Creates `folder`, which must not exist or be empty. NULL with `error` set (freed by the caller). */
struct record *record_new(const char *folder, char **error);

/* Both are to be called for each packet and each meta event. A failed write ends the recording. */
void record_packet(struct record *record, const struct packet *packet);
void record_event(struct record *record, const struct event *event);

/* Writes the metadata, renames, frees. False with `error` set when anything was not written. */
bool record_close(struct record *record, char **error);

#endif
