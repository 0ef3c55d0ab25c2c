/* SPDX-License-Identifier: MIT */
/* The screen's loop: takes keys and the sessions' answers and messages to the screen, and the screen to a terminal. */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
