/* SPDX-License-Identifier: MIT */
/*
 * The profiles of callgrind, as callgrind_annotate and KCachegrind read them: for each function its own cost by source
 * line, and what its callees cost. A call that recurs in a stack counts once, at the caller that is nearest to the
 * root. How often a function was called is not known: the samples in which it was stand for it. An inlined function is
 * one that was called.
 */
#ifndef CALLGRIND_H
#define CALLGRIND_H

#include "set_format.h"

extern const struct set_format format_callgrind;

#endif
