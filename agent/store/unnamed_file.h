/* SPDX-License-Identifier: MIT */
/* Files without a name, for what has no room in memory: such a file goes when it is closed. */
#ifndef UNNAMED_FILE_H
#define UNNAMED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the environment wants them. Not in /tmp: that may be in memory, which they may be too large for. */
const char *unnamed_file_folder(void);

int unnamed_file_open(const char *folder);	/* -1 with errno set: the folder does not take it */

/* All bytes from this offset on. False with errno set: a part could not be written, or is not there (EIO). */
bool unnamed_file_write(int fd, const void *bytes, size_t size, uint64_t offset);
bool unnamed_file_read(int fd, void *to, size_t size, uint64_t offset);

#endif
