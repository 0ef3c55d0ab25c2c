/* SPDX-License-Identifier: MIT */
/* Makes a sample set out of a boot: the samples that answer a question, with all their names. Ingest thread. */
#ifndef SAMPLE_COLLECT_H
#define SAMPLE_COLLECT_H

#include <stdbool.h>

#include "sample_set.h"

struct query;
struct query_inputs;
struct question;
struct sample_log;

struct sample_collect {
	struct query *query;
	const struct query_inputs *inputs;
	const struct question *question;
	const struct set_facts *facts;	/* what the asker knows; period, grain, losses and a range of 0 are added */
	struct sample_log *log;		/* of all samples of the range; the set holds it. NULL: there is none */
	bool lines;			/* also source lines and inlined functions, as far as they have been read */
	uint32_t most;			/* frames that stand alone, if not all can: see below; 0: all, or it fails */
	bool rows;			/* also the times of samples: of the log, or else those of their slices */
};

/*
 * The set is free of the boot. Its sums add up to the weight of the question's table. NULL with `error` set: "why; what
 * to do". If there are many more frames than `most`, or no memory for all and for drawing them, the lightest are one
 * frame "[merged]" below their caller, and no thread is told.
 */
struct sample_set *sample_collect(const struct sample_collect *how, char **error);

#endif
