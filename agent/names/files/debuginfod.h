/* SPDX-License-Identifier: MIT */
/*
 * Debug files from the servers in $DEBUGINFOD_URLS, by debuginfod-find(1): a process of its own, so
 * that what a server does is not done in ours, and can be ended at any time. Never waits: who wants
 * a file asks again and again. One fetch at a time. One thread.
 */
#ifndef DEBUGINFOD_H
#define DEBUGINFOD_H

#include <stdbool.h>

struct build_id;
struct debuginfod;

enum debuginfod_state {
	DEBUGINFOD_ASKING,		/* or its turn has not come yet */
	DEBUGINFOD_FOUND,
	DEBUGINFOD_NONE,		/* no server has it, or could be asked */
};

/* Is there anybody to ask? False with `error` set. */
bool debuginfod_possible(char **error);

struct debuginfod *debuginfod_new(void);
void debuginfod_free(struct debuginfod *debuginfod);	/* ends the fetch that is under way */

/* With DEBUGINFOD_FOUND, *path is where the file was put, until debuginfod_free. */
enum debuginfod_state debuginfod_find(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char **path);

#endif
