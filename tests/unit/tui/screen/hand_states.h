/* SPDX-License-Identifier: MIT */
/* The states that a screen may be in: of the guest, of QEMU, of the connection, and of each view. */
#ifndef HAND_STATES_H
#define HAND_STATES_H

struct answers;

struct hand_state {
	const char *name;
	void (*make)(struct answers *answers);
	const char *keys;		/* pressed when the answers are there; '\r' is Enter, '\b' is F8 */
};

/* A row without a name ends each. If the first key is a number, it chooses the view that the answers are for. */
extern const struct hand_state hand_states[];
extern const struct hand_state hand_views[];	/* one of each view */

void hand_states_begin(void);			/* makes the names that the answers borrow */
void hand_states_end(void);

struct answers *hand_state_answers(const struct hand_state *state);
struct answers *hand_state(const char *name);	/* the answers of the one of that name in `hand_states` */

#endif
