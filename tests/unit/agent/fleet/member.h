/* SPDX-License-Identifier: MIT */
/* A machine of a fleet, for tests: with functions of its own, and the answers that its session would make. */
#ifndef MEMBER_H
#define MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "tests/unit/fakes/hand_answers.h"

struct answers;
struct fleet;
struct function_request;

enum { MEMBERS = 3 };
extern const char *const member_names[MEMBERS];

struct member {
	struct symbols *symbols;
	uint32_t functions[HAND_FUNCTIONS];
};

struct member member_new(void);
void member_free(struct member *member);

/* Its vitals, functions and time line of the last ten seconds. `rate` in Hz, `now` in guest ns. */
struct answers *member_answers(const struct member *member, const char *kernel, uint32_t rate, uint64_t now);
void member_give(struct fleet *fleet, size_t machine, struct answers *answers);	/* takes over the answers */

/* Asks the fleet for functions, and for the vitals of the same excerpt, as a screen does. */
void member_ask(struct fleet *fleet, const struct function_request *functions);

/* It is midnight now, by the host's local time: what was a moment ago was yesterday. */
void member_begin_at_midnight(void);

#endif
