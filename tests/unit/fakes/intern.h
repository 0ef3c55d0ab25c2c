/* SPDX-License-Identifier: MIT */
/* Interns the stack of one sample. */
#ifndef INTERN_H
#define INTERN_H

#include <stdint.h>

#include "agent/store/stacks.h"

static inline uint32_t intern(struct stacks *stacks, const struct sample *sample, uint32_t space)
{
	struct stack_key key;

	stacks_key(stacks, sample, space, &key);
	return stacks_intern(stacks, &key);
}

#endif
