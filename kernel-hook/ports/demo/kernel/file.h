/* SPDX-License-Identifier: MIT */
/* Files with generated content on an imaginary disk, behind a cache of pages. */
#ifndef FILE_H
#define FILE_H

#include <stdint.h>

enum { FILE_COUNT = 24, FILE_SIZE = 128 * 1024 };

/* What is asked of the disk, by number, as trace events tell. */
enum { FILE_DISK_READ };

void file_start(void);			/* thread, at start-up */

/* thread. Files are endless: behind its last byte, a file's content repeats. `file` is taken modulo FILE_COUNT. */
void file_read(uint32_t file, uint64_t offset, void *to, uint64_t size);

#endif
