/* SPDX-License-Identifier: MIT */
/* Commands that a live ktop of the same machine obeys, since it has the guest's port. */
#ifndef BESIDE_H
#define BESIDE_H

struct option_row;

/*
 * Asks it for `word` with the options that stand for `request`, waits for the answer, and prints it. A
 * signal: it is to answer with what it has; a second one ends the program. The exit status.
 */
int beside_ask(const char *live, const char *word, const struct option_row *rows, const void *request);

#endif
