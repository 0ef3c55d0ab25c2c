/* SPDX-License-Identifier: MIT */
/*
 * Makes a recording that was cut or damaged whole again: what is no whole packet goes out of its files, and
 * what was not ended is ended. Waits for the disk.
 */
#ifndef RECORDING_REPAIR_H
#define RECORDING_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

struct recording;

struct recording_repaired {
	uint64_t files, bytes;		/* that were written anew; that went out of them */
	uint64_t ended;			/* parts that were called partial */
};

/* Of what was found in it. False with `error` set: the rest is as it was. */
bool recording_repair(const struct recording *recording, struct recording_repaired *done, char **error);

#endif
