/* SPDX-License-Identifier: MIT */
/*
 * What a kernel that nobody touched does where one of its functions begins or ends, as the host has told: the trace
 * events of wire.h, as the hook within a kernel would send them.
 */
#ifndef PLUGIN_ROLES_H
#define PLUGIN_ROLES_H

#include <stdbool.h>
#include <stdint.h>

struct ktop;
struct ktop_number;
struct moment;

/* A function that has a role. `value` is the role's (roles.c). */
struct role_place {
	const struct role *role;
	uint64_t value;
};

struct role {
	const char *name;		/* in the control line `place` */
	uint32_t events;		/* bit i: event KTOP_TRACE_FIRST + i, which it tells */
	uint32_t others;		/* likewise: it is followed for these, too, since it forgets what is kept */
	void (*enter)(struct ktop *ktop, const struct moment *moment, const struct role_place *place);
	void (*leave)(struct ktop *ktop, const struct moment *moment, const struct role_place *place);	/* or NULL */
};

const struct role *role_named(const char *name);	/* NULL: there is none */

/* As facts.numbers: what the numbers in these events are called, where each Linux on x86-64 has the same. */
bool role_number_at(uint32_t index, struct ktop_number *number);

#endif
