/* SPDX-License-Identifier: MIT */
/*
 * The language of filters, as people type them: words divided by blanks, and all of them must hold. A word without a
 * colon is part of a function's name. `!` before a word negates it, and `|` between values means or. A value in quotes
 * may have blanks and `|`, and "" for a quote: comm:"tmux: server"|sh.
 */
#ifndef FILTER_WORDS_H
#define FILTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "question.h"

/* How the words are written, for help and messages: in full; in short, where there is little room. */
#define FILTER_WORDS "NAME cpu:N thread:NAME comm:NAME process:NAME mode:kernel|user|idle|irq|softirq object:NAME " \
	"file:NAME under:FUNCTION machine:NAME"
#define FILTER_KINDS "NAME cpu: thread: comm: process: mode: object: file: under: machine:"

/*
 * Reads a filter. False with "why; what to do" in `error`, which the caller frees; *filter is unchanged
 * then. A word with two colons in a row, as in C++, is a name. A word with a single colon must be one of
 * those above.
 */
bool filter_parse(const char *text, struct filter *filter, char **error);

/* The bytes of the word at the beginning of the text. */
size_t filter_word_size(const char *text);

/* Adds one term, with a value as it stands behind the colon. False as above. */
bool filter_add(struct filter *filter, enum filter_by by, const char *value, char **error);

/* Adds a term of FILTER_HAS or FILTER_RUNNING, with the function's tree_name. False: there is no room for it. */
bool filter_add_function(struct filter *filter, enum filter_by by, uint64_t name);

#endif
