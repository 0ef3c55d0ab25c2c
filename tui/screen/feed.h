/* SPDX-License-Identifier: MIT */
/* What a screen is connected to: it brings answers and messages, and takes questions and orders. */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>

struct answer;
struct console;
struct excerpt;
struct play;
struct request;
struct session_message;

/* A screen has three questions, which are answered apart: the machine's vitals, what the view shows, the time line. */
enum feed_question { FEED_VITALS, FEED_VIEW, FEED_LINE, FEED_QUESTIONS };

struct feed {				/* each function is called with `self`; none of them waits */
	void *self;
	struct console *console;	/* of the QEMU that ktop has started; NULL: it has started none */
	/* Called with each drawing. NULL: nothing is asked. */
	void (*ask)(void *self, enum feed_question question, const struct request *request);
	/* The newest answer, owned by the caller; NULL: none since the last call. */
	struct answer *(*answer)(void *self, enum feed_question question);
	bool (*message)(void *self, struct session_message *message);	/* the next one; false: there is none */
	/* Whether the profiler runs: as last asked for until the outcome is told, and after that as is known. */
	bool (*running)(void *self);
	void (*run_profiler)(void *self, bool on);
	void (*play)(void *self, const struct play *play);	/* an order to the player of a recording */
	/* Saves this part of the profile. `kernel`: a name for the file's name. */
	void (*snapshot)(void *self, const struct excerpt *excerpt, const char *kernel);
	/* The format of all screens' snapshots: that of the last time. Its number in the list of save_format.h. */
	size_t (*format)(void *self);
	void (*set_format)(void *self, size_t format);
};

#endif
