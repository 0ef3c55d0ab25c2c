/* SPDX-License-Identifier: MIT */
/* What a session tells its readers besides answers: how an order went, or what happened. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>

struct session_message {
	bool failed;			/* an error: it stays on the screen until a key is pressed */
	bool profiler;			/* about starting or stopping the profiler; may be out of date by now */
	bool kept;			/* with `profiler`: the wish is kept; another message will tell its outcome */
	char text[512];
};

#endif
