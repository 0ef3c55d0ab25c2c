/* SPDX-License-Identifier: MIT */
/* What a session's readers are told beside its answers: how an order went, what happened. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>

struct session_message {
	bool failed;			/* stays on the screen until a key */
	bool profiler;			/* of starting or stopping, which may have happened since */
	bool kept;			/* that wish waits for the guest: its end is told, too */
	char text[512];
};

#endif
