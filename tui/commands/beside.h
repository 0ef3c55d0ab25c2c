/* SPDX-License-Identifier: MIT */
/* Commands that work beside a live ktop: that one has the VM's port, so it carries them out. */
#ifndef BESIDE_H
#define BESIDE_H

struct option_row;

/*
 * Sends `word` and the options that make up `request` to the live ktop at the path `live`, waits for the answer, and
 * prints it. On a signal, the live ktop answers with what it has; a second signal ends the program. Returns the exit
 * status.
 */
int beside_ask(const char *live, const char *word, const struct option_row *rows, const void *request);

#endif
