/* SPDX-License-Identifier: MIT */
/*
 * A recording as a source. Each packet comes when its time comes, at the guest's speed or at another; or all packets
 * come at once. A jump back reads the boot again from its beginning, as fast as possible.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stdint.h>

struct recording;
struct source;

struct replay_options {
	bool at_once;			/* all packets of the first boot without pacing, and no other boot */
	bool kernel_given;		/* the asker has said where the kernel's file is: the recording need not */
	uint64_t most_ns;		/* with at_once: only this much guest time from the boot's begin; 0: all */
};

/* Takes ownership of the recording. */
struct source *replay_new(struct recording *recording, const struct replay_options *options);

#endif
