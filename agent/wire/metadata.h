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

/* ---- its text ---- */

/*
 * What can be read again from the text that is written. Besides what CTF readers need, the text has facts of the
 * machine and of the guest, each in a line of its own. So a recording whose meta stream was cut still says what guest
 * it is of. Every byte of the text is hostile, and it may end anywhere: whole lines count.
 */

#define METADATA_NAME "machine"
#define METADATA_KERNEL "kernel_image"
#define METADATA_SAID "said_"		/* and a number: a meta event as the guest has sent it, in hex */
#define METADATA_END "/* end */\n"	/* the last line: a text without it was cut */

enum { METADATA_SAID_MAX = 4096 };	/* bytes; larger payloads are not kept */

struct metadata_said {
	uint16_t id;			/* of the event, as on the wire */
	uint16_t size;
	uint8_t payload[METADATA_SAID_MAX];
};

/* Reads the file `metadata` in that folder, 1 MiB of it at most. NULL: it is missing, empty, or no regular file. */
char *metadata_text_read(int folder);

/* The value of METADATA_NAME or METADATA_KERNEL, in fresh memory; NULL: the text has none. */
char *metadata_text_fact(const char *text, const char *name);

/* Finds the next meta event from `*at` on, which is NULL at first, and moves `*at` on. False: there is no more. */
bool metadata_text_said(const char *text, const char **at, struct metadata_said *said);

#endif
