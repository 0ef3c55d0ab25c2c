/* SPDX-License-Identifier: MIT */
/*
 * The language of filters, as people type them: words divided by spaces, all of which must agree.
 * cpu:N, thread:NAME and mode:kernel|user|idle say which samples count, each at most once; what
 * else there is makes up a part of a function's name.
 */
#ifndef FILTER_WORDS_H
#define FILTER_WORDS_H

#include <stdbool.h>

struct filter;

/* How they are written, in short. */
#define FILTER_WORDS "NAME cpu:N thread:NAME mode:kernel|user|idle"

/*
 * False with "why; what to do" in `error` (to be freed), and the filter as it was. A name with two
 * colons, as C++ has them, is a name; one with a single colon is a word, of which only those above
 * are known.
 */
bool filter_parse(const char *text, struct filter *filter, char **error);

#endif
