/* SPDX-License-Identifier: MIT */
/* A folder with a copy of the guest's files, at their paths. Symbolic links in it are the guest's. */
#ifndef SYSROOT_H
#define SYSROOT_H

#include <stddef.h>

/*
 * Opens the regular file that a path of the guest leads to, through its symbolic links, but never out of
 * the folder. -1: there is none. The path may be any bytes. `*found`: the file's real path, in fresh
 * memory. Another file may be there by now, so only the descriptor may be read.
 */
int sysroot_open(const char *folder, const char *path, size_t size, char **found);

#endif
