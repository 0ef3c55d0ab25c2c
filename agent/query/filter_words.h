/* SPDX-License-Identifier: MIT */
/*
 * The language of filters, as people type them: words divided by spaces, and a sample must satisfy all.
 * cpu:N, thread:NAME and mode:kernel|user|idle say which samples count; each may be given once. All other
 * words, joined by blanks, are a part of a function's name.
 */
#ifndef FILTER_WORDS_H
#define FILTER_WORDS_H

#include <stdbool.h>

struct filter;

/* How the words are written, in short. */
#define FILTER_WORDS "NAME cpu:N thread:NAME mode:kernel|user|idle"

/*
 * Reads a filter. False with "why; what to do" in `error`, which the caller frees; *filter is unchanged
 * then. A word with two colons in a row, as in C++, is a name. A word with a single colon must be one of
 * those above.
 */
bool filter_parse(const char *text, struct filter *filter, char **error);

#endif
