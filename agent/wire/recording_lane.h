/* SPDX-License-Identifier: MIT */
/*
 * One file of a recording, of one stream of one CPU, packet after packet. Every byte of it is hostile:
 * what is no packet of this file is passed over, to where the next one begins, and counted.
 */
#ifndef RECORDING_LANE_H
#define RECORDING_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum { LANE_BOOT_ID = 16 };

struct lane_packet {			/* what its header says */
	uint64_t offset;		/* in the file */
	uint32_t size;
	uint64_t begin, end;		/* guest clock ticks */
};

struct recording_lane {			/* starts as lane_begin makes it */
	enum stream stream;
	uint32_t cpu;
	int fd;				/* -1: closed for now */
	uint64_t used;			/* by whoever opens and closes it */
	uint8_t boot_id[LANE_BOOT_ID];	/* of its packets */
	bool booted;			/* that is known */
	uint64_t size;			/* of the file, when it was first opened */
	uint64_t skipped;		/* bytes that are no packet, so far */
	struct lane_packet packet;	/* the next one; of size 0: there is none */
};

/* Is that the name of such a file? */
bool lane_named(const char *name, enum stream *stream, uint32_t *cpu);

/* Opens it in that folder; false: it is not there, or no regular file. */
bool lane_open(struct recording_lane *lane, int folder);
void lane_close(struct recording_lane *lane);

/* To the first packet; to the next one. `boot_id`: packets of another boot are none; NULL: any. */
void lane_begin(struct recording_lane *lane, const uint8_t *boot_id);
void lane_next(struct recording_lane *lane);

/* The whole packet; false: the file has become shorter, or cannot be read. */
bool lane_read(const struct recording_lane *lane, void *to);

#endif
