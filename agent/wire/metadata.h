/* SPDX-License-Identifier: MIT */
/*
 * The `metadata` text of a recording: TSDL (CTF 1.8.3, section 7) that tells any CTF reader how to
 * read the packets. Events are described by the descriptors that the guest has sent, else by the
 * table of kernel-hook/wire.h, else as plain bytes. Names from the guest are not trusted.
 */
#ifndef METADATA_H
#define METADATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct metadata;
struct packet;

/* What the recorder knows of the machine, for who reads the recording; NULL: nothing. */
struct metadata_machine {
	const char *name, *kernel;	/* of the VM; the file of its kernel */
};

#define METADATA_NAME "machine"
#define METADATA_KERNEL "kernel_image"

struct metadata *metadata_new(const struct metadata_machine *machine);
void metadata_free(struct metadata *metadata);

/*
 * Notes which events the packet has, and what it says of the guest's clock and of events. True: the
 * text is another one than before. A guest makes that so some 64 times at most: then all ids are described.
 */
bool metadata_packet(struct metadata *metadata, const struct packet *packet);
uint64_t metadata_events(const struct packet *packet);	/* how many it has */

/* Errors are the stream's. */
void metadata_write(const struct metadata *metadata, const uint8_t *boot_id, FILE *to);

/* METADATA_NAME or METADATA_KERNEL of such a text, which is any text, in fresh memory; NULL: none. */
char *metadata_find(const char *text, const char *name);

#endif
