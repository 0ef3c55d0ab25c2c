/* SPDX-License-Identifier: MIT */
/*
 * A recording (record.h) that is there, be it cut or damaged: what its parts and boots are. Every byte
 * of it is hostile; nothing in it is followed out of its folder. Reading may wait for the disk.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum { RECORDING_PARTS_MAX = 10000 };

struct recording_part {
	char *path, *name;		/* of its folder; the last name of that */
	bool partial;			/* by its name: whoever wrote it has not ended it */
	uint64_t packets, bytes;	/* whole ones */
	uint64_t skipped;		/* bytes that are no whole packet */
};

struct recording_boot {			/* or a state to which a boot was put back */
	size_t first, parts;		/* its parts, which follow each other */
	uint8_t boot_id[16];
	uint64_t begin, end;		/* guest clock ticks, of all packets */
	struct event guest;		/* what the guest says of itself; kind: EVENT_GUEST, if it does */
	uint8_t *payload;		/* that its texts are in */
	char *machine, *kernel;		/* of the metadata; NULL: nothing is known */
};

struct recording {
	struct recording_part *parts;
	struct recording_boot *boots;
	size_t part_count, boot_count;	/* boot_count: 1 or more */
};

/* `folder`: of a recording, or of one part. NULL with `error` set. */
struct recording *recording_new(const char *folder, char **error);
void recording_free(struct recording *recording);

/* Ticks of the boot's clock. */
uint64_t recording_ns(const struct recording_boot *boot, uint64_t ticks);

/* What is not whole in a boot, in a line; "" if all is. Returns `text`. */
const char *recording_remark(const struct recording *recording, size_t boot, char *text, size_t size);

#endif
