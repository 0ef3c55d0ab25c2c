/* SPDX-License-Identifier: MIT */
/*
 * Opens a file by its path. A pipe, which can be read only once, is copied to memory: `--symbols <(nm
 * kernel)` gives one.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct budget;

struct spool {				/* starts as { .fd = -1 } */
	int fd;				/* of the copy in memory; -1: there is none */
	char *path;			/* where to open it: the file itself, or the copy */
	struct budget *budget;
	size_t size;			/* bytes of the copy, charged to the budget */
	atomic_bool copying;		/* spool_open reads a pipe just now */
	bool spent;			/* it failed after bytes had come: the rest is not the whole */
};

/*
 * Copies a pipe, or notes the path of any other file without opening it. Waits for what a pipe's writer writes, wait_ms
 * at most each time. False with `error` set: the pipe could not be copied, or has no writer.
 */
bool spool_open(struct spool *spool, const char *path, int wait_ms, struct budget *budget,
	char **error);
void spool_close(struct spool *spool);

#endif
