/* SPDX-License-Identifier: MIT */
/* The formats in which the samples of any question can be saved: a list, from number 0 on. */
#ifndef SAVE_FORMAT_H
#define SAVE_FORMAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/samples/sample_set.h"
#include "export.h"

struct save_format {
	const char *name, *ending, *about;	/* as in export.h; name NULL: there is no such number */
};

struct save_format save_format_at(size_t number);
bool save_format_named(const char *name, size_t *number);	/* false: there is none */

/* `machine`: its name, where there are several; "": there is one. It is the root of folded stacks. */
struct export_choice save_format_choice(size_t number, const char *machine);

/* ---- export set ---- */

/* The formats of sample sets (set_format.h) as formats of an export. */

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
