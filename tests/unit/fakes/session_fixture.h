/* SPDX-License-Identifier: MIT */
/* A session on the port of a fake guest, driven step by step. A test fails when what it awaits does not come. */
#ifndef SESSION_FIXTURE_H
#define SESSION_FIXTURE_H

#include <stdbool.h>

#include "agent/vm/link.h"
#include "answers.h"

struct fake_guest;
struct session;
struct session_options;

/* How long the fixture awaits anything. A step is short, since tests make many in which nothing comes. */
enum { FIXTURE_STEPS = 60000, FIXTURE_STEP_MS = 1 };

extern const char fixture_names[];	/* symbols, as nm prints them: _start, main_loop, hot, cold */

struct fixture {
	struct fake_guest *guest;
	struct session *session;
	char *port;
	int number;
};

/* `extra` may be NULL. If it names no kernel, the kernel's names are fixture_names. The others have QMP, too. */
struct fixture fixture_begin(const struct session_options *extra);
struct fixture fixture_begin_qmp(const char *qmp);
struct fixture fixture_begin_own(const char *qmp, char *(*ended)(void *context, bool *well), void *context);
void fixture_end(struct fixture *fixture);

void fixture_step(struct fixture *fixture);
void fixture_command(struct fixture *fixture, const char *line);	/* a person's; its answer becomes a message */
void fixture_await_link(struct fixture *fixture, enum link_state wanted);
void fixture_await_line(struct fixture *fixture, const char *line);	/* a control line, from ktop to the guest */
void fixture_await_message(struct fixture *fixture, bool failed, const char *part);

/* The newest answers, after everything that the guest has sent was handled. */
struct answers *fixture_answers(struct fixture *fixture);

/* The guest tells all its facts; the second awaits hello first. */
void fixture_tell_all(struct fixture *fixture);
void fixture_bring_up(struct fixture *fixture);

#endif
