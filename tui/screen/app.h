/* SPDX-License-Identifier: MIT */
/* The screen's loop: keyboard, pictures and messages of sessions to a terminal. */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct tabs;

/* Is there a terminal that can show the screen? False with `error` set. Changes nothing. */
bool app_possible(char **error);

/*
 * Runs the screen until the user quits, or until SIGTERM, SIGINT or SIGHUP; then the terminal is
 * as it was. To be called from the main thread, while others drive the sessions. False
 * with `error` set when the terminal cannot be opened. `asked`: when the end was asked for (util_now).
 */
bool app_run(struct tabs *tabs, const struct config *config, uint64_t *asked, char **error);

#endif
