/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, from which flame graphs are made: a line `root;...;leaf weight` for each stack, sorted bytewise. The
 * weights add up to the weight of the same question's table. In names, ';' becomes ':', and a space becomes '_'.
 */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include "export.h"

extern const struct export_format export_folded;

#endif
