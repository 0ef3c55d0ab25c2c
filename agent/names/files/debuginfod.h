/* SPDX-License-Identifier: MIT */
/*
 * Debug files and source files from the servers in $DEBUGINFOD_URLS, fetched by debuginfod-find(1). That is a process
 * of its own, so that it does not disturb ours, and can be killed at any time. Never waits: the caller asks again and
 * again. One fetch at a time. One thread.
 */
#ifndef DEBUGINFOD_H
#define DEBUGINFOD_H

#include <stdbool.h>

struct build_id;
struct debuginfod;

enum debuginfod_state {
	DEBUGINFOD_ASKING,		/* under way, or waiting for its turn */
	DEBUGINFOD_FOUND,
	DEBUGINFOD_NONE,		/* no server has it, or none could be asked */
};

/* Is there a server to ask? False with `error` set. */
bool debuginfod_possible(char **error);

struct debuginfod *debuginfod_new(void);
void debuginfod_free(struct debuginfod *debuginfod);	/* kills the fetch that is under way */

/* With DEBUGINFOD_FOUND, *path is the fetched file, valid until debuginfod_free. */
enum debuginfod_state debuginfod_find(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char **path);

/*
 * The same for a source file of that build, by its whole path in DWARF. This may be any bytes: what is no plain path is
 * not asked for.
 */
enum debuginfod_state debuginfod_find_source(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char *source, const char **path);

#endif
