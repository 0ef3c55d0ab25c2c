/* SPDX-License-Identifier: MIT */
/* The part of a filter (question.h) that decides which samples count: all but the pattern, which chooses rows. */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>

struct filter;
struct who;
struct threads;

/* True if the samples of `who` count. */
bool filter_passes(const struct filter *filter, struct threads *threads,
	const struct who *who);

/* True if both filters let the same samples pass. */
bool filter_same(const struct filter *a, const struct filter *b);

#endif
