/* SPDX-License-Identifier: MIT */
/*
 * At which functions a Linux kernel that nobody touched does what trace events tell, by its names: the control lines
 * `place` for ktop's plugin in QEMU. Ingest thread.
 */
#ifndef TRACE_PLACES_H
#define TRACE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands.h"

struct symbols;

/* All 0: nothing was told yet. */
struct trace_places {
	uint32_t next;			/* the row that is looked for next */
	bool states;			/* the plugin knows where the states of threads are; set by who tells it */
	uint64_t missing;		/* bit i: this kernel lacks the function of row i, or has several */
	uint64_t unknown;		/* bit i: it is not known where that function's structures have what is told */
};

/* Writes the next line. False: there is none, or the kernel's names are not known yet. */
bool trace_places_line(struct trace_places *places, const struct symbols *symbols, char line[COMMANDS_LINE_MAX + 1]);

bool trace_places_are_told(const struct trace_places *places);	/* all that there are */

/* "sched_wake: no single wake_up_new_task; ...": what is not traced for that. "": nothing, as far as is known. */
const char *trace_places_missing(const struct trace_places *places, char *text, size_t size);

#endif
