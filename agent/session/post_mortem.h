/* SPDX-License-Identifier: MIT */
/*
 * The last moments of a machine that answers no more, out of its memory (black_box.h), beside the session that watched
 * it: all of it becomes a recording, and what the session has not got is read like bytes of the port. A job does what
 * waits for QEMU and the disk, with the source's connection to QMP, which is lent to it. The ingest thread makes all
 * calls.
 */
#ifndef POST_MORTEM_H
#define POST_MORTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct decode;
struct epoch;
struct metadata_machine;
struct post_mortem;
struct source;

/* Begins, for the recording `path`, or the first free name that is made of it. All but these texts is borrowed. */
struct post_mortem *post_mortem_new(struct source *source, struct decode *decode, const char *path,
	const struct metadata_machine *machine);
void post_mortem_free(struct post_mortem *dead);	/* leaves the job behind; NULL is allowed */

/*
 * To be called often. True: there is something to tell, once, in *said, in fresh memory: what was found, or, if
 * *failed, why nothing was.
 */
bool post_mortem_step(struct post_mortem *dead, bool *failed, char **said);

/* True: the recording is still being written; `text` names it. */
bool post_mortem_writes(const struct post_mortem *dead, char *text, size_t size);

/* Packets are there to be read, and the decoder has taken all bytes before. They must be fed to it before the next. */
bool post_mortem_reads(const struct post_mortem *dead);
size_t post_mortem_read(struct post_mortem *dead, void *to, size_t room);	/* 0: there are no more */
bool post_mortem_over(const struct post_mortem *dead);	/* told, and read */

#endif
