/* SPDX-License-Identifier: MIT */
/* The formats of sample sets (set_format.h) as formats of an export. */
#ifndef EXPORT_SET_H
#define EXPORT_SET_H

#include <stdatomic.h>

#include "agent/samples/sample_set.h"
#include "export.h"

struct set_format;

struct set_progress {			/* of an export that is being written; any thread */
	atomic_bool stop;		/* set it to give the export up */
	atomic_uint done;		/* thousandths */
};

struct set_options {
	const struct set_format *format;
	struct set_progress *progress;	/* must outlive the export; NULL: nobody looks */
	const atomic_bool *stop;	/* likewise: of one without progress; NULL: it is always written whole */
	bool flame;			/* of pictures; see set_writing.h */
	char machine[40];		/* its name, where there are several; "": as the facts have it */
};

_Static_assert(sizeof(struct set_options) <= EXPORT_OPTIONS, "they fit into a choice");

extern const struct export_format export_set;

static inline struct export_choice export_set_choice(struct set_options options)
{
	return export_choose(&export_set, &options, sizeof(options));
}

#endif
