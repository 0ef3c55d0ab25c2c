/* SPDX-License-Identifier: MIT */
/*
 * How busy the CPUs were in each fiftieth of the last 160 s, or how much of each had one function on the stack. Of its
 * excerpt the filter counts, and where a window that is not live was frozen or first moved: there the map ends.
 */
#ifndef HEAT_MAP_H
#define HEAT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/query/series.h"
#include "answer.h"

/* Compared as bytes: it has no padding. Of the excerpt only these parts are set. */
struct heat_request {
	struct request request;
	uint64_t of;			/* the tree_name of a function; 0: none */
};

enum { HEAT_NAME = 128 };

struct heat_map {
	struct answer answer;
	struct heat_request asked;	/* what this is the answer to */
	bool whole;			/* it has all that was asked: if it does not end now, it stays as it is */
	uint64_t now;			/* guest ns */
	char name[HEAT_NAME];		/* of the function; "": none is wanted, or its name is not known */
	struct heat heat;		/* no slot until the guest has told of itself */
};

extern const struct answer_kind heat_map_kind;

#endif
