/* SPDX-License-Identifier: MIT */
/*
 * Makes a recording whole again that was cut or damaged. Removes the bytes that belong to no whole packet.
 * Where metadata is missing or cut, writes it anew, from the boot's packets. Gives the parts that were not ended
 * their final names. Waits for the disk.
 */
#ifndef RECORDING_REPAIR_H
#define RECORDING_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

struct recording;

struct recording_repaired {
	uint64_t files, bytes;		/* files written anew; bytes removed from them */
	uint64_t described;		/* parts that got a new metadata file */
	uint64_t ended;			/* parts whose name was partial */
};

/* Repairs the recording, and says what it has done. False with `error` set: what it did not reach is unchanged. */
bool recording_repair(const struct recording *recording, struct recording_repaired *done, char **error);

#endif
