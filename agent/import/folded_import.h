/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: a line `root;...;leaf count` for each. Names may have spaces. The marks `_[k]` (of the kernel) and
 * `_[i]` (inlined) are taken back. What a writer replaced in a name stays so: ktop writes ';' as ':', and a space as
 * '_'. A count is taken for samples, and for their weight.
 */
#ifndef FOLDED_IMPORT_H
#define FOLDED_IMPORT_H

#include "set_import.h"

extern const struct set_import import_folded;

#endif
