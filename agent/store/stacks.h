/* SPDX-License-Identifier: MIT */
/*
 * All stacks of one epoch as one call tree of raw addresses. Interning a stack again is one hash look-up.
 * Node ids are dense, start at 0 and are never reused. A caller's id is lower than its callee's. A stack's id
 * is that of its leaf node.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>
#include <stdint.h>

#define STACKS_NONE 0xffffffffu		/* no stack, or none that is known */

struct budget;
struct sample;
struct stacks;

/* The most nodes; they also get a quarter of the budget at most. */
enum { STACKS_NODES_MAX = 2 << 20 };

struct node {
	uint64_t address;		/* for look-ups: a return address is stored minus one */
	uint32_t space;			/* EVENT_KERNEL, or a space of user addresses */
	uint32_t parent;		/* the caller's node; STACKS_NONE: this is a root */
	uint32_t walked;		/* the parent as it was walked; see stacks_cut_off */
	bool cut;			/* the walk ended here, so `parent` is not the direct caller */
	bool walk_cut;			/* the same as it was walked */
	bool returned;			/* a caller's return address, not an interrupted one; of no leaf */
};

struct stacks *stacks_new(struct budget *budget);
void stacks_free(struct stacks *stacks);

/* What the stack of a sample is found by; valid as long as the sample. */
struct stack_key {
	const struct sample *sample;
	uint32_t space;
	struct stack_print {		/* of all that decides which stack it is: see stacks.c */
		uint64_t low, high;
		uint32_t spread;	/* chooses the set */
	} print;
};

/*
 * Makes a key, some time before the stack is asked for: it fetches the memory that the look-up needs.
 * `space` is that of the user frames.
 */
void stacks_key(const struct stacks *stacks, const struct sample *sample, uint32_t space,
	struct stack_key *key);

/*
 * Returns the stack's leaf node. The kernel's frames are joined to the leaf end of the user's frames.
 * STACKS_NONE: the sample has no frame, or there is no memory for its nodes (counted).
 */
uint32_t stacks_intern(struct stacks *stacks, const struct stack_key *key);

/*
 * Cuts the node off from its caller, whose frame is none; or undoes that. What the program's frames are for the
 * kernel's stays. True: it was not so before.
 */
bool stacks_cut_off(struct stacks *stacks, uint32_t node, bool off);

uint32_t stacks_nodes(const struct stacks *stacks);	/* ids are below this number */
struct node stacks_node(const struct stacks *stacks, uint32_t node);
const struct node *stacks_list(const struct stacks *stacks);	/* all nodes by id, for loops; they never move */
uint64_t stacks_refused(const struct stacks *stacks);	/* samples whose stack found no room */

#endif
