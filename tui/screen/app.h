/* SPDX-License-Identifier: MIT */
/* The screen's loop: takes keys and the sessions' answers and messages to the screen, and the screen to a terminal. */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/keys.h"

struct config;
struct tabs;

/* True: there is a terminal that can show the screen. False with `error` set. Changes nothing. */
bool app_possible(char **error);

/*
 * Runs the screen until the user quits or a signal ends it (term.h), and leaves the terminal as it was. Called by
 * the main thread, while other threads drive the sessions. False with `error` set when the terminal cannot be opened,
 * or is gone.
 */
struct app_end {
	uint64_t asked;			/* the time of the key or signal that ended it (util_now) */
	bool detach;			/* the user wants the QEMU that ktop has started to go on */
};
bool app_run(struct tabs *tabs, const struct config *config, struct app_end *end, char **error);

/* ---- typed ---- */

/*
 * What the user has typed and clicked, and what has not acted yet. Keys act in their order. A key that acts on rows
 * waits until the rows are there that the keys before it have asked for (screen.h), and those behind it wait with it.
 * So keys that come in one burst do what they do one by one.
 */

enum { TYPED_MOST = 256 };

struct typed {				/* starts as { 0 } */
	struct input inputs[TYPED_MOST];
	size_t first, count;
};

void typed_put(struct typed *typed, const struct input *input);	/* after a typed_take that was false */

/* Hands out the first one, for tabs_input. False: there is none, or it waits. */
bool typed_take(struct typed *typed, struct tabs *tabs, uint64_t now, struct input *input);

#endif
