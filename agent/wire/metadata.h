/* SPDX-License-Identifier: MIT */
/*
 * The `metadata` text of a recording: TSDL (CTF 1.8.3, section 7) that tells any CTF reader how to
 * read the packets. Events are described by the descriptors that the guest has sent, else by the
 * table of kernel-hook/wire.h, else as plain bytes. Names from the guest are not trusted.
 */
#ifndef METADATA_H
#define METADATA_H

#include <stdint.h>
#include <stdio.h>

struct event;
struct metadata;
struct packet;

struct metadata *metadata_new(void);
void metadata_free(struct metadata *metadata);

/* Notes the guest's facts and descriptors; other events are ignored. */
void metadata_event(struct metadata *metadata, const struct event *event);

/* Notes which events occur, so that each will be described. */
void metadata_packet(struct metadata *metadata, const struct packet *packet);

/* Errors are the stream's. */
void metadata_write(const struct metadata *metadata, const uint8_t *boot_id, FILE *to);

#endif
