/* SPDX-License-Identifier: MIT */
/* Lines of text from the host, and keys, become what the samplers and trace points read. */
#ifndef KTOP_CONTROL_H
#define KTOP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

struct ktop;
struct ktop_settings;

/* The drainer's but for the settings at init. */
struct ktop_control {
	uint32_t rate;
	uint32_t mode;			/* enum ktop_sampler: to use when on */
	uint32_t events[KTOP_TRACE_WORDS];	/* the trace mask to use when on */
	uint32_t event_words;		/* of it, those that ever had a bit set: the first ones */
	bool nmi_works;			/* one was sent, or the kernel's settings say so */
	uint32_t counting;		/* the rate at which counters overflow; 0: not */
	bool kick;			/* CPUs have a new order and do not know */

	char line[80];
	uint32_t length;		/* of the line so far; more than fits: too long */
	uint8_t input[64];
	uint32_t input_size, input_at;
};

void ktop_control_init(struct ktop *ktop, const struct ktop_settings *settings);

/* The drainer. A new host: forgets a half line. */
void ktop_control_reset(struct ktop *ktop);

/* The drainer. Takes keys and lines, a bounded number, and brings about what they ask for. */
void ktop_control(struct ktop *ktop, bool connected);

/* Are lines left that came in, and is there a place for the answer? */
bool ktop_control_more(const struct ktop *ktop);

#endif
