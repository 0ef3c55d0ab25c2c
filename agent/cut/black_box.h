/* SPDX-License-Identifier: MIT */
/*
 * A recording out of the memory of a machine that answers no more: what the hook had in its rings and tables of names
 * when the guest died, or was reset (kernel-hook/wire.h, struct ktop_wire_black_box). All memory is hostile: what
 * contradicts itself is refused, and said, and the rest is recorded.
 */
#ifndef BLACK_BOX_H
#define BLACK_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metadata_machine;

enum { BLACK_BOX_LANES = 2 };		/* of a CPU: samples, events of trace */

/* The physical memory of a machine. */
struct memory_image {
	/* False: some of it is not there. */
	bool (*read)(const void *context, uint64_t physical, void *to, size_t size);
	const void *context;
	uint64_t end;			/* no memory is at this address, or above it */
	uint64_t size;			/* bytes of memory that there are, at most */
};

/*
 * What somebody has of a boot: so many events of each lane, with all those before them. In a recording, a packet ends
 * there. `events` NULL: nothing.
 */
struct black_box_had {
	uint8_t boot_id[16];
	uint32_t cpus;
	uint64_t (*events)[BLACK_BOX_LANES];	/* by CPU, and stream behind STREAM_META */
};

/*
 * Writes all boots that are found to a folder that recording_folder has made. False with `error` set: none was found,
 * or it was not written. `had`: NULL: nothing. `said`: what was found and what was refused, a line for each, in fresh
 * memory; also if it failed. Any thread; waits for the disk.
 */
bool black_box_record(const struct memory_image *image, const struct metadata_machine *machine, const char *folder,
	const struct black_box_had *had, char **said, char **error);

/* A packet of such a recording has something that they have not. Names were told before, if anything was. */
bool black_box_is_new(const struct black_box_had *had, const void *packet);

#endif
