/* SPDX-License-Identifier: MIT */
/*
 * The language of filters, as people type them: words divided by blanks, and all of them must hold. A word without a
 * colon is part of a function's name. `!` before a word negates it, and `|` between values means or.
 */
#ifndef FILTER_WORDS_H
#define FILTER_WORDS_H

#include <stdbool.h>

#include "agent/wire/event.h"
#include "question.h"

/* How the words are written; and shorter. */
#define FILTER_WORDS "NAME cpu:N thread:NAME process:NAME mode:kernel|user|idle object:NAME under:FUNCTION"
#define FILTER_KINDS "NAME cpu: thread: process: mode: object: under:"

extern const char *const filter_modes[MODES];	/* the words for them */

/*
 * Reads a filter. False with "why; what to do" in `error`, which the caller frees; *filter is unchanged
 * then. A word with two colons in a row, as in C++, is a name. A word with a single colon must be one of
 * those above.
 */
bool filter_parse(const char *text, struct filter *filter, char **error);

/* Adds one term, with a value as it stands behind the colon. False as above. */
bool filter_add(struct filter *filter, enum filter_by by, const char *value, char **error);

#endif
