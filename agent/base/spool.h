/* SPDX-License-Identifier: MIT */
/* A file that can be read only once, as `--symbols <(nm kernel)` gives one, kept in memory. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>

struct budget;

struct spool {				/* starts as { .fd = -1 } */
	int fd;				/* of the copy, in memory; -1: none */
	char *path;			/* where it can be opened: the file itself, or the copy */
	struct budget *budget;
	size_t size;			/* of the copy, which the budget has paid for */
};

/* False with `error` set: a pipe into which nobody writes for so long is one reason. */
bool spool_open(struct spool *spool, const char *path, int wait_ms, struct budget *budget,
	char **error);
void spool_close(struct spool *spool);

#endif
