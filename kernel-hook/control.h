/* SPDX-License-Identifier: MIT */
/*
 * Control: lines of text from the host (docs/wire.md), and keys. They change what sampler.c and the trace points do.
 * The drainer alone calls these functions, except ktop_control_init().
 */
#ifndef KTOP_CONTROL_H
#define KTOP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "filter.h"
#include "trace.h"

struct ktop;
struct ktop_settings;

/* What a line `events` asks for: all of it is looked at before anything changes. The stack may be small. */
struct ktop_choice {
	uint32_t events[KTOP_TRACE_WORDS], stacks[KTOP_TRACE_WORDS];
	uint32_t frames;		/* of each stack */
	struct ktop_filter filters[KTOP_FILTERS];
	uint32_t timed;			/* bit i: the line asks for a duration of group i */
};

/* The settings that hold while profiling is on, and the input. Written by the drainer. */
struct ktop_control {
	uint32_t rate;			/* samples a second on each CPU */
	uint32_t sampler;		/* the chosen one, KTOP_TIMER, KTOP_NMI or KTOP_NONE, while profiling is on */
	uint32_t events[KTOP_TRACE_WORDS];	/* trace events, as struct ktop.trace has them */
	uint32_t event_words;		/* how many words, from the first on, ever had a bit set */
	bool nmi_works;			/* an NMI could be sent, or the kernel's settings say so */
	uint32_t counting;		/* the rate at which counters overflow; 0: never */
	bool kick;			/* there is a new generation (hook.h), and the CPUs are not yet kicked */

	struct ktop_choice choice;	/* of the line that is run */
	char line[256];			/* the line that is coming in */
	uint32_t length;		/* its bytes so far; more than `line` holds: too long */
	uint8_t input[64];		/* received bytes */
	uint32_t input_size, input_at;	/* how many there are; how many were taken */
};

/* Thread, in ktop_init(). The settings are complete. False: settings->trace is no such line. */
bool ktop_control_init(struct ktop *ktop, const struct ktop_settings *settings);

/* The drainer, for a new host: forgets input and reply of the one before. */
void ktop_control_reset(struct ktop *ktop);

/* The drainer. Takes keys, and a bounded number of lines if a host is connected, and does what they ask for. */
void ktop_control(struct ktop *ktop, bool connected);

/* The drainer. True: there is input left, and the next reply has a place. */
bool ktop_control_more(const struct ktop *ktop);

#endif
