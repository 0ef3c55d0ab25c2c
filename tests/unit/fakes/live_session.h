/* SPDX-License-Identifier: MIT */
/* A session on a live machine that a test plays. */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

struct session;
struct session_options;

/* The paths of the machine's sockets; NULL: it has none. NULL with `error` set when an option is wrong. */
struct session *live_session(const char *qmp, const char *port, const struct session_options *options, char **error);

#endif
