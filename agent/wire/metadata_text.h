/* SPDX-License-Identifier: MIT */
/*
 * What can be read again from the text that metadata.h writes. Besides what CTF readers need, the text has facts of the
 * machine and of the guest, each in a line of its own. So a recording whose meta stream was cut still says what guest
 * it is of. Every byte of the text is hostile, and it may end anywhere: whole lines count.
 */
#ifndef METADATA_TEXT_H
#define METADATA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
