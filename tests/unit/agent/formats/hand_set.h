/* SPDX-License-Identifier: MIT */
/* A set made by hand, with known sums and hostile names. */
#ifndef HAND_SET_H
#define HAND_SET_H

#include <stdint.h>

#include "agent/samples/sample_set.h"

enum { HAND_HOSTILE = 9 };		/* functions with hostile names; each has a stack and one sample */

struct hand_set {
	struct sample_set set;
	struct set_function *functions;
	struct set_line *lines;
	struct set_location *locations;
	struct set_stack *stacks;
	struct set_sum *sums;
	uint64_t apart;			/* ns between the two halves of each sum */
	char *long_name;
};

struct hand_set *hand_set_new(void);
struct hand_set *hand_set_new_large(uint32_t stacks);	/* many stacks of 12 frames, without times */
void hand_set_free(struct hand_set *hand);

extern const char *const hand_set_hostile[HAND_HOSTILE];	/* the last one is NULL: it has 10 KB */

#endif
