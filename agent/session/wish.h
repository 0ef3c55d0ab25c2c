/* SPDX-License-Identifier: MIT */
/* What a reader wants of a session, and what it is told beside its pictures. */
#ifndef WISH_H
#define WISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question.h"

/* What the screen wants to know. */
struct session_wish {
	uint64_t window_ns;		/* 0: all since zero_ns */
	uint64_t zero_ns;		/* nothing before this guest time */
	uint64_t until_ns;		/* nothing after it: a frozen picture; 0: live */
	struct filter filter;
	uint32_t visible[256];		/* functions whose trend and line are wanted */
	size_t visible_count;
	uint32_t selected;		/* function whose callers are wanted; FUNCTION_NONE */
	uint32_t reader;		/* for whom it is: told again in the picture */
	bool brief;			/* nobody looks at it: no table, no CPUs, seldom */
};

struct session_message {
	bool failed;			/* stays on the screen until a key */
	bool profiler;			/* of starting or stopping, which may have happened since */
	bool kept;			/* that wish waits for the guest: its end is told, too */
	char text[512];
};

#endif
