/* SPDX-License-Identifier: MIT */
/*
 * A file that appears under its name only when complete: write to util_file_open's stream, then
 * commit (flush, fsync, name) or discard. Mode 0600. A link is followed; what is there and no
 * regular file is left alone. Until then it has no name, so that a killed program leaves nothing;
 * where the file system cannot do that, the next util_file_open in that folder removes what is left.
 */
#ifndef UTIL_FILE_H
#define UTIL_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct util_file;

struct util_file *util_file_open(const char *path, char **error);
FILE *util_file_stream(struct util_file *file);
void util_file_discard(struct util_file *file);		/* NULL: nothing */

/* In place of what has that name. */
bool util_file_commit(struct util_file *file, char **error);

/*
 * In place of nothing: where that name is taken, "-2", "-3" ... is put before its last dot. The name
 * in fresh memory; NULL with `error` set.
 */
char *util_file_commit_new(struct util_file *file, char **error);

#endif
