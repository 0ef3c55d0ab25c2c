/* SPDX-License-Identifier: MIT */
/* The part of a filter (question.h) that decides about counts; the pattern decides about rows. */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>

struct filter;
struct who;
struct threads;

bool filter_passes(const struct filter *filter, struct threads *threads,
	const struct who *who);

/* Do both let the same counts pass? */
bool filter_same(const struct filter *a, const struct filter *b);

#endif
