/* SPDX-License-Identifier: MIT */
/*
 * A QEMU of our own: the user's command line with a QMP socket and the port added, both in a
 * private temporary folder. It ends with us, whatever happens, and nothing else does.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

struct launch;

/*
 * The command line that is run: `words` and what is to be added, ended by NULL, in fresh memory.
 * NULL with `error` set when it cannot be watched. What is there already is not added again.
 */
char **launch_words(char *const *words, size_t count, const char *folder, char **error);
void launch_words_free(char **words);

/* Starts it and waits for its QMP socket, at most so long. NULL with `error` set. */
struct launch *launch_new(char *const *words, size_t count, int timeout_ms, char **error);

/* Ends it: by QMP, then SIGTERM, then SIGKILL, each with its time; removes the folder. */
void launch_free(struct launch *launch);

const char *launch_qmp(const struct launch *launch);

/*
 * Why it has ended by itself and not well, with its last words, in fresh memory; NULL: it has not,
 * and does not within so long.
 */
char *launch_failure(struct launch *launch, int wait_ms);

/* The last line of its output, printable, in fresh memory; "" if there is none. */
char *launch_last_words(const struct launch *launch);

#endif
