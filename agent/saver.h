/*
 * Writes snapshots, one at a time, in a thread of its own: a slow disk holds up nothing but them.
 * What is saved is fixed by the call; how it went is told as a message.
 */
#ifndef SAVER_H
#define SAVER_H

#include "export.h"
#include "query.h"

struct epoch;
struct mailbox;
struct saver;

struct saver *saver_new(struct mailbox *mailbox);
void saver_free(struct saver *saver);		/* waits for the one in work */

void saver_save(struct saver *saver, const char *path, struct epoch *epoch,
	const struct question *question, struct folded_options options);

#endif
