/* SPDX-License-Identifier: MIT */
/* What a user asks about two sets of samples, and the file or text that answers. */
#ifndef DIFF_REQUEST_H
#define DIFF_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/base/options.h"
#include "agent/base/util.h"

struct session_options;

struct diff_request {
	int share, per, by;		/* by: enum group_by */
	int format;			/* -1: that of the file's ending; text without a file */
	bool inlined, flame;
	uint32_t top, memory;		/* memory: MiB; 0: the default */
	const char *filter, *file, *fail_above;	/* NULL: none */
	const struct session_options *names;	/* as in diff_request.h */
};

extern const struct diff_request diff_request_default;
extern const struct option_row diff_request_options[];	/* they fill a diff_request */

/* False with `error` set: it is not known how to write the file, or an option has no effect in it. */
bool diff_request_check(const struct diff_request *request, char **error);

enum diff_outcome { DIFF_DONE, DIFF_FAILED, DIFF_GROWN };

/*
 * Compares two sides (diff_side_read). Writes to the request's file, which appears whole or not at all; else to stdout.
 * DIFF_FAILED with `error` set; DIFF_GROWN, too: all is written, and the share of a row has grown by more than it may.
 */
enum diff_outcome diff_request_do(const struct diff_request *request, const char *before, const char *after,
	char **error);

/* What to say of the file's format, once it is written, as util_file_ends_twice has it; NULL: nothing. */
char *diff_request_remark(const struct diff_request *request);

/* ---- diff side ---- */

/* One side of a diff: a file of stacks, a recording, or a range of one. */

struct budget;
struct kept_paths;
struct sample_set;

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

/* ---- diff tables ---- */

/* The forms of a diff that are written. */

struct set_diff;

/* The sides that are compared: before, after. */
enum { DIFF_SIDES = 2 };

static inline double diff_seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

/* A picture of B's stacks, and how they have changed; as an HTML page or as SVG. False with `error` set. */
struct diff_look {
	bool html;
	bool flame;			/* roots at the foot */
	const struct kept_paths *kept;	/* what is not among these is merged, on both sides; NULL: nothing is */
};
bool diff_picture(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], struct diff_look look,
	FILE *to, char **error);

/* `top`: rows at most; 0: all. */
void diff_text(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to);
void diff_json(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to);

#endif
