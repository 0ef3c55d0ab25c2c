/* SPDX-License-Identifier: MIT */
/* A live guest that a command sets, follows for a while, and sets back. Main thread. */
#ifndef LIVE_GUEST_H
#define LIVE_GUEST_H

#include <stdbool.h>

struct epoch;
struct service;
struct session;

enum { GUEST_CONNECT_MS = 15000 };	/* longest wait for the guest to tell of itself */

struct live_guest {
	struct session *session;
	struct service *service;
	const struct epoch *epoch;	/* the boot that guest_await has found */
};

void guest_step(struct live_guest *guest);	/* once; tells failures, and flushes what was printed */
bool guest_is_gone(const struct live_guest *guest);

/* Waits until it has told of itself. False with `error` set: "nothing traced: why; what to do". */
bool guest_await(struct live_guest *guest, char **error);

/*
 * Both wait for the guest's answer, or a signal. False with `error` set: there is none, or the guest refuses. `text`:
 * set to the answer, in fresh memory; NULL: it is not wanted.
 */
bool guest_ask(struct live_guest *guest, const char *line, char **text, char **error);
bool guest_profile(struct live_guest *guest, bool on, char **error);

/*
 * Of a hook outside the guest, which has to sample: waits until it knows where the kernel does what trace events tell.
 * `missing`: what of that is not traced, and why; "": nothing. False with `error` set: it does not get to know.
 */
enum { GUEST_MISSING = 512 };
bool guest_await_places(struct live_guest *guest, char missing[GUEST_MISSING], char **error);

/* Waits until such a hook does what it was last told. */
bool guest_await_force(struct live_guest *guest, char **error);

#endif
