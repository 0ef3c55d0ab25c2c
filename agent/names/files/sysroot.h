/* SPDX-License-Identifier: MIT */
/* A folder with a copy of the guest's files, at their paths. Its links are the guest's. */
#ifndef SYSROOT_H
#define SYSROOT_H

#include <stddef.h>

/*
 * The regular file to which a path of the guest leads, by its links too, without leaving the folder;
 * -1: there is none. The path is any bytes. `found`: the file's own path, in fresh memory; what is
 * there may be another file by now, so that only the descriptor is to be read.
 */
int sysroot_open(const char *folder, const char *path, size_t size, char **found);

#endif
