/* SPDX-License-Identifier: MIT */
/* One side of a diff: a file of stacks, a recording, or a range of one. */
#ifndef DIFF_SIDE_H
#define DIFF_SIDE_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct kept_paths;
struct sample_set;
struct session_options;

struct diff_side {
	const char *name;		/* as the user wrote it; borrowed */
	struct sample_set *set;
	bool recorded;			/* it is a recording */
	char *unnamed;			/* why code of it has no name, if some has none */
	char *note;			/* what the diff's reader should know of it; NULL: nothing */
};

/* What is read of a recording. */
struct diff_side_options {
	const char *filter;		/* words of filter.h; NULL: none */
	const struct session_options *names;	/* where they come from; NULL: from where the recording says */
	bool lines;			/* also source lines and inlined functions, which takes longer */
	bool nobody;			/* of who ran them, only the mode */
	uint32_t most;			/* as in sample_collect.h: more frames may be merged; 0: none are */
	const struct kept_paths *kept;	/* likewise */
};

/*
 * Reads "FILE", "DIR" or "DIR@FROM..TO"; without FROM or TO, the range has no such limit. What is there as it is
 * written has no range in its name. A recording is played at once: this takes as long as a report on it. A filter of a
 * file is a mistake. False with `error` set. Clear it in any case.
 */
bool diff_side_read(struct diff_side *side, const char *words, const struct diff_side_options *options,
	struct budget *budget, char **error);
void diff_side_clear(struct diff_side *side);

#endif
