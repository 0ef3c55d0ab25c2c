/* SPDX-License-Identifier: MIT */
#include "agent/session/session.h"
#include "agent/source/live.h"
#include "live_session.h"

struct session *live_session(const char *qmp, const char *port, const struct session_options *options, char **error)
{
	return session_new(live_new(&(struct live_options) { .qmp = qmp, .port = port }), options, error);
}
