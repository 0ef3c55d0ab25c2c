/* SPDX-License-Identifier: MIT */
/*
 * All sums of a set as JSON, for scripts. A stack is a list of indices of functions, the root first. A sum is on a line
 * of its own. What is not known is left out.
 */
#ifndef JSON_STACKS_H
#define JSON_STACKS_H

#include "set_format.h"

extern const struct set_format format_json_stacks;

#endif
