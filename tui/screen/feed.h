/* SPDX-License-Identifier: MIT */
/* Where a screen's answers and messages come from, and where what it asks and orders goes to. */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>

struct answer;
struct excerpt;
struct play;
struct request;
struct session_message;

/* What a screen asks, each apart from the other: how the machine is, and what the view shows. */
enum feed_question { FEED_VITALS, FEED_VIEW, FEED_QUESTIONS };

struct feed {				/* each call is given `self`; as in session.h, "any thread" */
	void *self;
	/* Told again with each drawing; NULL: nothing is asked. */
	void (*ask)(void *self, enum feed_question question, const struct request *request);
	struct answer *(*answer)(void *self, enum feed_question question);	/* the screen's; NULL: none newer */
	bool (*message)(void *self, struct session_message *message);
	/* The profiler, as was asked for last, until it is told how that went; then as is known now. */
	bool (*running)(void *self);
	void (*run_profiler)(void *self, bool on);
	void (*play)(void *self, const struct play *play);	/* of a recording */
	/* Of what is shown; and of which kernel the file's name says it is. */
	void (*snapshot)(void *self, const struct excerpt *excerpt, const char *kernel);
};

#endif
