/* SPDX-License-Identifier: MIT */
/*
 * A recording (recording_writer.h) as it is found on the disk: its parts and its boots. It may be cut or damaged, and
 * every byte of it is hostile. No symbolic link in it is followed. Reading may wait for the disk.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beginning.h"
#include "event.h"

/* ---- lanes: one file each ---- */

/*
 * A lane: one file of a recording, with the packets of one stream of one CPU, one after the other. Every byte
 * of it is hostile. Bytes that are no packet of this lane are skipped up to the next packet, and counted.
 */

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

/* ---- recording ---- */

enum { RECORDING_PARTS_MAX = 10000 };

struct early_end;

struct recording_part {
	char *path, *name;		/* of its folder; the last component of the path */
	bool partial;			/* its name ends in .partial: its recorder has not ended it */
	bool undescribed;		/* its file `metadata` is missing, or cannot be read, and is missed */
	uint64_t packets, bytes;	/* whole packets, and their bytes */
	uint64_t skipped;		/* bytes that belong to no whole packet */
};

struct recording_boot {			/* or a state that a boot was put back to */
	size_t first, parts;		/* index of its first part; how many follow each other */
	uint8_t boot_id[16];
	uint64_t begin, end;		/* of all its packets together, without leftovers; guest clock ticks */
	struct beginning beginning;	/* it tells which samples are leftovers */
	struct event guest;		/* the guest's facts; if it is not known, its CPUs alone */
	uint8_t *payload;		/* holds the texts of `guest`; NULL: the guest is not known */
	struct event *descriptors;	/* of the guest's own trace events, one for each id; texts owned */
	size_t descriptor_count;
	char *machine, *kernel;		/* from the metadata; NULL: not known */
	struct early_end *early;	/* early_count lanes that end before the boot does */
	size_t early_count;
};

struct recording {
	char *folder;			/* as it was given */
	struct recording_part *parts;
	struct recording_boot *boots;
	size_t part_count, boot_count;	/* boot_count: 1 or more */
	uint64_t hollow;		/* folders with files of packets, of which none is whole: passed over */
	struct recording_patience patience;	/* of whoever reads it next; may be set at any time */
	uint64_t unread;		/* files and folders that cannot be read; parts beyond RECORDING_PARTS_MAX */
	int why_unread;			/* errno of the last of these; 0: it was one part too many */
};

/* `folder` is that of a recording, or of one part. NULL with `error` set. */
struct recording *recording_new(const char *folder, char **error);
/* The same; all packets are looked at, which may take long, and be given up. */
struct recording *recording_load(const char *folder, struct recording_patience patience, char **error);
void recording_free(struct recording *recording);

/* Converts ticks of the boot's clock to ns. A clock that is not known, or below 1 kHz, is taken as 1 GHz. */
uint64_t recording_ns(const struct recording_boot *boot, uint64_t ticks);
/* The inverse: the first ticks of that time or of a later one. */
uint64_t recording_ticks(const struct recording_boot *boot, uint64_t ns);

enum { RECORDING_REMARK = 768 };	/* bytes that are enough for a remark */

/*
 * Says in one line what is not whole in a boot; "" if all is. recording_lost says only what no repair can mend. Both
 * return `text`.
 */
const char *recording_remark(const struct recording *recording, size_t boot, char *text, size_t size);
const char *recording_lost(const struct recording *recording, size_t boot, char *text, size_t size);

#endif
