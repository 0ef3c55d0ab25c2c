/* SPDX-License-Identifier: MIT */
/*
 * Writes snapshots, one after the other, in a thread of its own: a slow disk holds up nothing but
 * them. What is saved is fixed by the call; how each went, be it that it was not taken, is told as
 * a message. The file's name is `path`, or the first free one made of it.
 */
#ifndef SAVER_H
#define SAVER_H

#include "agent/export/export.h"
#include "agent/query/query.h"

struct epoch;
struct mailbox;
struct saver;

struct saver *saver_new(struct mailbox *mailbox);
void saver_free(struct saver *saver);		/* when all that were taken are written */

/* Is any not yet written? Which, in `text`. */
bool saver_writes(struct saver *saver, char *text, size_t size);

/* In a format that any thread may write. */
void saver_save(struct saver *saver, const char *path, struct epoch *epoch,
	const struct question *question, const struct export_choice *choice);

#endif
