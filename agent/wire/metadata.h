/* SPDX-License-Identifier: MIT */
/*
 * The `metadata` text of a recording: TSDL (CTF 1.8.3, section 7), which tells any CTF reader how to read
 * the packets. An event is described by the descriptor that the guest has sent, else by the table of
 * kernel-hook/wire.h, else as plain bytes. Names from the guest are not trusted.
 */
#ifndef METADATA_H
#define METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct metadata;
struct packet;

/* What the recorder knows of the machine, for readers of the recording. NULL: not known. */
struct metadata_machine {
	const char *name, *kernel;	/* the name of the VM; the path of its kernel's file */
};

struct metadata *metadata_new(const struct metadata_machine *machine);
void metadata_free(struct metadata *metadata);

/*
 * Notes which events the packet has, and what it says of the guest's clock and of kinds of events. True: the
 * text has changed. That happens 64 times at most, whatever a guest sends: the 64th change describes every id,
 * so no later packet needs another one.
 */
bool metadata_packet(struct metadata *metadata, const struct packet *packet);

/* The same for one meta event, by its id and payload. */
bool metadata_take(struct metadata *metadata, uint16_t id, const void *payload, size_t size);
uint64_t metadata_events(const struct packet *packet);	/* how many events the packet has */

/* Writes the text. After it, ferror(to) says whether that has failed. */
void metadata_write(const struct metadata *metadata, const uint8_t *boot_id, FILE *to);

#endif
