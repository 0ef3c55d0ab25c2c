/* SPDX-License-Identifier: MIT */
/* Makes a sample set out of a boot: the samples that answer a question, with all their names. Ingest thread. */
#ifndef SAMPLE_COLLECT_H
#define SAMPLE_COLLECT_H

#include <stdbool.h>

#include "sample_set.h"

struct kept_paths;
struct query;
struct query_inputs;
struct question;
struct sample_log;

enum { SAMPLE_COLLECT_ALONE = 1 << 16 };	/* frames of a picture, if it has too many to see */

struct sample_collect {
	struct query *query;
	const struct query_inputs *inputs;
	const struct question *question;
	const struct set_facts *facts;	/* what the asker knows; period, grain, losses and a range of 0 are added */
	struct sample_log *log;		/* of all samples of the range; the set holds it. NULL: there is none */
	bool lines;			/* also source lines and inlined functions, as far as they have been read */
	uint32_t most;			/* frames that stand alone, if not all can: see below; 0: all, or it fails */
	const struct kept_paths *kept;	/* what is not among these paths is merged; NULL: they do not matter */
	bool rows;			/* also the times of samples: of the log, or else those of their slices */
	bool events;			/* with the rows of the log, also its trace events */
	bool nobody;			/* of who ran them, only the mode is told */
};

/*
 * The set is free of the boot. Its sums add up to the weight of the question's table. NULL with `error` set: "why; what
 * to do". If there are many more frames than `most`, or no memory for all and for drawing them, the lightest are one
 * frame "[merged]" below their caller, and no thread is told. With `kept` the stacks are paths of functions, without
 * addresses, and `lines` has to be whether these paths have inlined functions.
 */
struct sample_set *sample_collect(const struct sample_collect *how, char **error);

/* How much memory a picture of the set takes, at most. */
size_t sample_collect_drawn(const struct sample_set *set);

#endif
