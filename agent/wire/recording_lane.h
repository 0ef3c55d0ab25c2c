/* SPDX-License-Identifier: MIT */
/*
 * A lane: one file of a recording, with the packets of one stream of one CPU, one after the other. Every byte
 * of it is hostile. Bytes that are no packet of this lane are skipped up to the next packet, and counted.
 */
#ifndef RECORDING_LANE_H
#define RECORDING_LANE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum { LANE_BOOT_ID = 16 };

struct lane_packet {			/* as its header says */
	uint64_t offset;		/* in the file */
	uint32_t size;
	uint64_t begin, end;		/* guest clock ticks */
};

/* Reading may take long, and be given up: then the lane seems to end. `given_up` NULL: nobody gives it up. */
struct recording_patience {
	bool (*given_up)(void *context);	/* asked again and again; once true, it stays so */
	void *context;
};

bool recording_given_up(const struct recording_patience *patience);	/* NULL is allowed */

struct recording_lane {			/* the caller sets stream, cpu, patience, fd -1; the calls below the rest */
	enum stream stream;
	uint32_t cpu;
	int fd;				/* -1: closed for now */
	uint64_t used;			/* for the caller, who chooses which file to close */
	uint8_t boot_id[LANE_BOOT_ID];	/* the boot id of its packets */
	bool booted;			/* `boot_id` is known */
	uint64_t size;			/* of the file, when it was first opened */
	uint64_t skipped;		/* bytes that belong to no packet, so far */
	const struct recording_patience *patience;	/* asked while it searches; NULL: nobody is */
	int error;			/* errno of a read that failed; `skipped` may count good bytes then */
	struct lane_packet packet;	/* the next packet; size 0: there is none */
};

/* Like opendir; but when memory is out, the program ends. Else the folder's files would be missing without a word. */
DIR *lane_folder(const char *path);

struct lane_name {
	enum stream stream;
	uint32_t cpu;
};

/* The path of a lane's file, in fresh memory. */
char *lane_path(const char *folder, enum stream stream, uint32_t cpu);

/* Lists the lanes in the folder, in an order that does not depend on the file system. The caller frees `list`. */
size_t lane_list(DIR *folder, struct lane_name **list);

/* Opens the file in that folder. False: it is missing, or no regular file. */
bool lane_open(struct recording_lane *lane, int folder);
void lane_close(struct recording_lane *lane);

/* Goes to the first packet. `boot_id`: packets of other boots are skipped; NULL: the first packet tells the boot. */
void lane_begin(struct recording_lane *lane, const uint8_t *boot_id);
void lane_next(struct recording_lane *lane);	/* goes to the next packet of that boot */

/* Reads the whole packet into `to`, packet.size bytes. False: the file has become shorter, or cannot be read. */
bool lane_read(struct recording_lane *lane, void *to);

#endif
