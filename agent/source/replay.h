/* SPDX-License-Identifier: MIT */
/*
 * A recording as a source: its packets come when their time has come, at the guest's speed or another
 * one; or all at once. A jump back reads again from the boot's beginning, as fast as it goes.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stdint.h>

struct recording;
struct source;

struct replay_options {
	bool at_once;			/* not paced, and the first boot alone */
	uint64_t most_ns;		/* so much of it, from its first packet; 0: all. With at_once */
};

/* Takes the recording. */
struct source *replay_new(struct recording *recording, const struct replay_options *options);

#endif
