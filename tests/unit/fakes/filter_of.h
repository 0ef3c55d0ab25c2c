/* SPDX-License-Identifier: MIT */
/* A filter out of the words that a person types. A test that gives wrong words fails. */
#ifndef FILTER_OF_H
#define FILTER_OF_H

#include "agent/query/question/filter.h"

struct filter filter_of(const char *words);
void assert_filter(const struct filter *filter, const char *words);	/* it is the filter that these words make */

#endif
