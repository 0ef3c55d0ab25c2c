/* SPDX-License-Identifier: MIT */
/* Where a screen's pictures and messages come from, and where what it wants goes to. */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>

struct picture;
struct play;
struct session_message;
struct session_wish;

struct feed {				/* each call is given `self`; as in session.h, "any thread" */
	void *self;
	struct picture *(*picture)(void *self);
	bool (*message)(void *self, struct session_message *message);
	void (*wish)(void *self, const struct session_wish *wish);
	/* The profiler, as was asked for last, until it is told how that went; then as is known now. */
	bool (*running)(void *self);
	void (*run_profiler)(void *self, bool on);
	void (*play)(void *self, const struct play *play);	/* of a recording */
	void (*snapshot)(void *self, const char *kernel);	/* of which kernel the file's name says it is */
};

#endif
