/* SPDX-License-Identifier: MIT */
/*
 * A recording: a folder of parts, each a CTF 1.8 trace: a file per stream and CPU (meta_0, samples_0,
 * trace_3), the packets verbatim, and the `metadata` text, which is there before the packets that
 * need it. A boot has a part, and another one when it is put back to an earlier state, or when a part
 * is full. Parts are numbered as they come, and called by the boot id: 0001-BOOT. One that is being
 * written is called 0001-BOOT.partial: who is killed, or has no more room, leaves it so, readable.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metadata_machine;
struct packet;
struct record;

struct record_options {
	const char *folder;
	uint64_t part_bytes;		/* a part has no more; 0: as many as come */
	uint32_t parts;			/* so many are kept, the oldest goes; 0: all are */
};

/* So far, with what went with the oldest parts. */
struct record_sums {
	uint64_t packets, bytes, samples, events;	/* events: all but samples */
	uint32_t boots;
};

/* Makes the folder, or finds it empty. False with `error` set. May wait for the disk. */
bool record_folder(const char *folder, char **error);

/*
 * Into such a folder. What is wanted of the disk is done beside (record_writer.h): of what follows,
 * record_close alone waits.
 */
struct record *record_new(const struct record_options *options, const struct metadata_machine *machine);

/*
 * To be called for each packet. A failed write ends the recording. True: with this packet a part has
 * begun that lacks what the guest has told before: it is to tell all of itself again.
 */
bool record_packet(struct record *record, const struct packet *packet);

struct record_sums record_sums(const struct record *record);

/* Has it ended, by a failure? Then `text` says which. */
bool record_failed(struct record *record, char *text, size_t size);

/* Nothing more is to come: is its end still in work? */
bool record_writes(struct record *record);

/* Waits until all is on the disk, and frees. False with `error` set when anything was not written. */
bool record_close(struct record *record, char **error);

/* Frees, and leaves its end in work. NULL: nothing. */
void record_leave(struct record *record);

#endif
