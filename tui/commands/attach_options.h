/* SPDX-License-Identifier: MIT */
/* What the options in command_attach and command_limits fill (command.h). */
#ifndef ATTACH_OPTIONS_H
#define ATTACH_OPTIONS_H

#include "agent/session/session.h"
#include "agent/source/live.h"

struct attach_options {
	struct live_options live;	/* of the VM; unused with a recording */
	struct session_options session;
};

#endif
