/* SPDX-License-Identifier: MIT */
/*
 * Where the lanes of a boot end. A guest sends packets of each lane at least every 100 ms, if only empty ones. So a
 * lane whose last packet ends much earlier than others was cut: what came after is missing, though nothing was skipped.
 * A lane without a file is missing if the guest goes on to take events of it; what it says of itself always has one.
 */
#ifndef RECORDING_ENDS_H
#define RECORDING_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct lane_end {			/* end and cut are 0: there is no such lane */
	uint64_t end;			/* of its last packet, in guest clock ticks; 0: it has none */
	uint64_t taken;			/* events that the guest had taken until then */
	uint64_t told;			/* events that it had taken when it told its last status; 0: it told none */
	uint64_t told_first;		/* when it told its first status */
	bool tells;			/* it has told a status */
	bool cut;			/* it ends with bytes of no whole packet, or has no packet */
};

struct lane_ends {
	struct lane_end of[STREAMS][EVENT_CPUS];
};

struct early_end {			/* a lane that ends before the boot does */
	enum stream stream;
	uint32_t cpu;
	uint64_t ns;			/* guest time from its end to the end of the boot */
	uint64_t missing;		/* at least so many events are missing; 0: not known */
	bool empty;			/* it has no packet at all */
};

struct boot_span {			/* of all packets of a boot; guest clock ticks, of which a second has `hz` */
	uint64_t begin, end, hz;
};

/* Returns how many lanes end early. They are listed, the earliest first; the caller frees the list. */
size_t ends_find(const struct lane_ends *ends, const struct boot_span *boot, struct early_end **list);

/* The guest tells a status: so many events it had taken. */
void ends_tell(struct lane_end *end, uint64_t taken);

/* Adds what is found in a part to what was found in the parts before, of the same boot. */
void ends_add(struct lane_ends *ends, const struct lane_ends *part);

enum { ENDS_TEXT = 400 };		/* bytes that are enough for ends_text */

/* Says in one line what ends early; "" if nothing does. Returns `text`. */
const char *ends_text(const struct early_end *list, size_t count, char *text, size_t size);

#endif
