/* SPDX-License-Identifier: MIT */
/*
 * A recording (recording_writer.h) as it is found on the disk: its parts and its boots. It may be cut or damaged, and
 * every byte of it is hostile. No symbolic link in it is followed. Reading may wait for the disk.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beginning.h"
#include "event.h"
#include "recording_lane.h"

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
