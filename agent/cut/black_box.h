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

/* The physical memory of a machine. */
struct memory_image {
	/* False: some of it is not there. */
	bool (*read)(const void *context, uint64_t physical, void *to, size_t size);
	const void *context;
	uint64_t end;			/* no memory is at this address, or above it */
	uint64_t size;			/* bytes of memory that there are, at most */
};

/*
 * Writes all boots that are found to a folder that recording_folder has made. False with `error` set: none was found,
 * or it was not written. `said`: what was found and what was refused, a line for each, in fresh memory; also if it
 * failed. Any thread; waits for the disk.
 */
bool black_box_record(const struct memory_image *image, const struct metadata_machine *machine, const char *folder,
	char **said, char **error);

#endif
