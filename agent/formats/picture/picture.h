/* SPDX-License-Identifier: MIT */
/* What a picture shows, however it is written. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdint.h>

struct cells;
struct set_facts;

enum picture_colours { COLOURS_MODE, COLOURS_OBJECT, COLOURS_CHANGE };

struct picture {
	const struct cells *cells;	/* settled */
	const char *title;		/* "": nothing is known */
	const char *unit;		/* what is counted, if it is no samples: "bytes"; NULL: samples */
	const char *before;		/* with what it compares, in a few words; NULL: with nothing */
	const struct set_facts *facts;	/* NULL: none are known */
	uint32_t merged;		/* frames that were merged before, as they are too light */
	enum picture_colours colours;	/* at first */
	bool flame;			/* at first: roots at the foot; else an icicle */
};

#endif
