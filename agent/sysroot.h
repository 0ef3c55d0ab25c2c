/* A folder with a copy of the guest's files, at their paths. Its links are the guest's. */
#ifndef SYSROOT_H
#define SYSROOT_H

#include <stddef.h>

/*
 * Where a path of the guest leads, its links too, without leaving the folder, in fresh memory;
 * NULL: nowhere. Any bytes.
 */
char *sysroot_path(const char *folder, const char *path, size_t size);

#endif
