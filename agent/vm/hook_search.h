/* SPDX-License-Identifier: MIT */
/* Is the hook in a file of the guest: its kernel, its module, its initrd? */
#ifndef HOOK_SEARCH_H
#define HOOK_SEARCH_H

#include <stdbool.h>

struct job;

/*
 * Looks for the port's name, which a kernel with the hook and its driver contains. False, too: the file is compressed,
 * cannot be read, or `path` is NULL. May wait for a disk.
 */
bool hook_is_in(const char *path);

/*
 * The same of two files, as a job: true if either has it. hook_searched: false: the job is not done yet; else it
 * takes the result, and ends it.
 */
struct job *hook_search(const char *path, const char *other);
bool hook_searched(struct job *job, bool *found);

#endif
