/* SPDX-License-Identifier: MIT */
/* Is the hook in a file of the guest: its kernel, its initrd? */
#ifndef HOOK_SEARCH_H
#define HOOK_SEARCH_H

#include <stdbool.h>

struct errand;

/*
 * A kernel with the hook and its driver contains the port's name. A packed file does not show it. NULL, and what is no
 * readable file: false. May wait for a disk.
 */
bool hook_is_in(const char *path);

/* The same, as an errand. hook_searched: takes what was found, and ends the errand; false: it is not done yet. */
struct errand *hook_search(const char *path);
bool hook_searched(struct errand *errand, bool *found);

#endif
