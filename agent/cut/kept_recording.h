/* SPDX-License-Identifier: MIT */
/*
 * A recording made of the samples that a boot has kept, for one who has no packets of it. It has each sample that
 * answers a question, with its stack, its weight and who ran it, at the time of its slice. What the guest has told of
 * itself, of these threads and of their programs stands before them, with the names of the kernel's functions. Trace
 * events are not kept.
 */
#ifndef KEPT_RECORDING_H
#define KEPT_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

struct epoch;
struct kept_recording;
struct metadata_machine;
struct question;

/* Collects it, as far as the budget goes. The epoch must outlive it. Ingest thread. */
struct kept_recording *kept_recording_new(const struct epoch *epoch, const struct question *question,
	const struct metadata_machine *machine);
void kept_recording_free(struct kept_recording *kept);	/* any thread; NULL is allowed */

struct kept_sums {
	uint64_t samples, weight;
	uint64_t unknown;		/* samples of which is not kept on which CPU they ran: they stand at CPU 0 */
};

/* Writes it to a folder that recording_folder has made. False with `error` set. Any thread; waits for the disk. */
bool kept_recording_write(struct kept_recording *kept, const char *folder, struct kept_sums *sums, char **error);

#endif
