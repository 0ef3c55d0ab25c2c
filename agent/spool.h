/* A file that can be read only once, as `--symbols <(nm kernel)` gives one, kept in memory. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>

struct spool {				/* starts as { .fd = -1 } */
	int fd;				/* of the copy, in memory; -1: none */
	char *path;			/* where it can be opened: the file itself, or the copy */
};

/* False with `error` set: a pipe into which nobody writes for so long is one reason. */
bool spool_open(struct spool *spool, const char *path, int wait_ms, char **error);
void spool_close(struct spool *spool);

#endif
