/* SPDX-License-Identifier: MIT */
/*
 * All stacks of one epoch as one call tree of raw addresses. Interning the same stack again is one
 * hash look-up. Node and stack ids are dense, start at 0 and are never reused.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdint.h>

#include "stack_cache.h"

struct budget;
struct sample;
struct stacks;

/* Frames at most; a quarter of the budget. A caller's id is lower than its callee's. */
enum { STACKS_NODES_MAX = 2 << 20 };

struct node {
	uint64_t address;		/* to look up: a return address is stored minus one */
	uint32_t space;			/* EVENT_KERNEL, or one of user addresses */
	uint32_t parent;		/* the caller's node, STACKS_NONE at a root */
	uint32_t cut;			/* 1: the walk ended here; `parent` is no direct caller */
};

struct stacks *stacks_new(struct budget *budget);
void stacks_free(struct stacks *stacks);

/* A sample whose stack is asked for; good as long as the sample. */
struct stack_key {
	const struct sample *sample;
	struct stack_print print;
	uint32_t space;
};

/*
 * To be made some time before the stack is asked for: has memory fetched for it. User frames are
 * addresses of `space`.
 */
void stacks_key(const struct stacks *stacks, const struct sample *sample, uint32_t space,
	struct stack_key *key);

/*
 * The stack's leaf node: kernel frames on top of user frames, joined. STACKS_NONE for a sample
 * without any frame, or when there is no memory for more (counted).
 */
uint32_t stacks_intern(struct stacks *stacks, const struct stack_key *key);

uint32_t stacks_nodes(const struct stacks *stacks);
struct node stacks_node(const struct stacks *stacks, uint32_t node);
uint64_t stacks_refused(const struct stacks *stacks);	/* samples without a stack, at the limit */

#endif
