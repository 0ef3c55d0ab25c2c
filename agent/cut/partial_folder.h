/* SPDX-License-Identifier: MIT */
/*
 * The folder of a recording while it is written: it has another name, DIR.partial, and gets its own when all is
 * written. All calls may wait for the disk.
 */
#ifndef PARTIAL_FOLDER_H
#define PARTIAL_FOLDER_H

#include <stdbool.h>

char *partial_folder_name(const char *folder);	/* in fresh memory */

/* Makes it, and returns its name in fresh memory. NULL with `error` set. `folder` is not there, or is empty. */
char *partial_folder_new(const char *folder, char **error);

/* Both free the name. False with `error` set: then it is removed. */
bool partial_folder_commit(char *partial, const char *folder, char **error);
void partial_folder_discard(char *partial);	/* NULL is allowed */

/* The folder's name, or if that is taken, with "-2", "-3" ... before its last dot. In fresh memory. */
char *partial_folder_unused(const char *folder);

#endif
