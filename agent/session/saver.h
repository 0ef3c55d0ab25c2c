/* SPDX-License-Identifier: MIT */
/*
 * Writes snapshots, one after the other, each by a job (job.h), so that a slow disk delays nothing else. saver_save
 * collects what is saved, so later samples are not in it. A message tells how each snapshot went, or why it was
 * refused. The file is called `path`, or the first free name that is made of it. The ingest thread makes all calls.
 */
#ifndef SAVER_H
#define SAVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/export/export.h"

struct answer;
struct epoch;
struct flight_cut;
struct kept_recording;
struct mailbox;
struct saver;

struct saver *saver_new(struct mailbox *mailbox);	/* the mailbox must outlive it */
void saver_free(struct saver *saver);		/* waits until all accepted snapshots are written */

bool saver_step(struct saver *saver);		/* to be called often; true: snapshots are still to be written */

/* True: snapshots are still to be written, and `text` names them. */
bool saver_writes(struct saver *saver, char *text, size_t size);

/* False: too many snapshots wait to be written. Then a message says so, and nothing must be saved. */
bool saver_has_room(struct saver *saver);

/* The input is of this epoch. Its table, if it has one, is of `answer`, which the saver takes over; NULL: none. */
void saver_save(struct saver *saver, const char *path, struct epoch *epoch, struct answer *answer,
	const struct export_input *input, const struct export_choice *choice);

/* A recording, made of the samples of this epoch that were kept. Takes them over. */
void saver_save_kept(struct saver *saver, const char *path, struct epoch *epoch, struct kept_recording *kept);

/* What led up to now. Takes the cut over. */
void saver_save_flight(struct saver *saver, const char *path, struct epoch *epoch, struct flight_cut *flight);

struct saver_cut {			/* a part of the recording that is played */
	const char *folder;
	size_t boot;			/* its index */
	uint64_t from, to;		/* guest ns: from <= time < to; UINT64_MAX: to the end */
};

/* A recording, cut out of the one that is played. Copies `cut`. */
void saver_save_cut(struct saver *saver, const char *path, struct epoch *epoch, const struct saver_cut *cut);

#endif
