/* The screen's loop: keyboard, pictures and messages of a session to a terminal. */
#ifndef APP_H
#define APP_H

#include <stdbool.h>

struct config;
struct session;

/* Is there a terminal that can show the screen? False with `error` set. Changes nothing. */
bool app_possible(char **error);

/*
 * Runs the screen until the user quits, or until SIGTERM, SIGINT or SIGHUP; then the terminal is
 * as it was. To be called from the main thread, while another thread drives the session. False
 * with `error` set when the terminal cannot be opened.
 */
bool app_run(struct session *session, const struct config *config, char **error);

#endif
