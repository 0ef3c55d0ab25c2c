/* SPDX-License-Identifier: MIT */
/*
 * The places of a call tree: a place is a function, with the functions on the way to it from the top. A place has
 * places below it only once it is opened. Each stack belongs to one place: the innermost on its way that there is. So a
 * tree costs what is unfolded of it, and nothing for the rest. Stacks find their places when they are asked for.
 */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"
#include "tree.h"

struct budget;
struct stacks;
struct symbols;

/* A stack's key: its place. With PLACE_INNER the stack goes on below the place, which is closed. */
#define PLACE_NONE 0xfffffffeu		/* it is not in the tree: it lacks the function that the tree is around */
#define PLACE_UNKNOWN 0xffffffffu	/* it was not asked for yet */
#define PLACE_INNER 0x80000000u
#define PLACE_OF(key) ((key) & ~PLACE_INNER)

struct tree_place {
	uint64_t path, name;		/* as in tree.h */
	uint32_t parent;		/* lower than this one; TREE_TOP: it is at the top */
	uint32_t function, depth;
	bool open;
};

struct places {
	struct budget *budget;		/* borrowed, as all of these */
	const struct stacks *stacks;
	const struct symbols *symbols;
	const uint32_t *functions;	/* by node; see match.h */

	enum tree_order order;
	bool recursion;			/* these are as in struct tree_question */
	uint64_t of;
	char kernel[64];
	uint32_t unfolded_count;
	uint64_t unfolded[TREE_UNFOLDED];	/* sorted: places with these paths are opened as they are made */

	struct tree_place *list;
	uint32_t count, room;
	struct hash by_name;
	uint32_t *keys;			/* by stack */
	uint32_t key_count;
	uint64_t *names;		/* by function; 0: not known yet */
	uint32_t name_count;
	uint64_t version;		/* grows when keys that were given before may be different now */
	bool scarce;			/* there was no memory for a place or a key */
};

/* The borrowed members are set by the caller; then the tree is empty, and all places are closed. */
void places_init(struct places *places, const struct tree_question *question, enum tree_order order,
	const char *kernel);
void places_clear(struct places *places);	/* also before places_init is called again */

/* True if places that were made for another question serve this one as well. */
bool places_are_of(const struct places *places, const struct tree_question *question, const char *kernel);

void places_unfold(struct places *places, const struct tree_question *question);	/* opens those that it names */
void places_open(struct places *places, uint32_t place);

/* To be called before keys are asked for, when the store may have new stacks. False: there is no memory. */
bool places_meet(struct places *places);

uint32_t places_find(struct places *places, uint32_t stack);	/* for places_key alone */

/* True if the key was found, and its place was not opened since. */
static inline bool places_settled(const struct places *places, uint32_t key)
{
	return key >= PLACE_NONE ? key == PLACE_NONE : !(key & PLACE_INNER) || !places->list[PLACE_OF(key)].open;
}

/* The key of a stack, which is a node of stacks.h. */
static inline uint32_t places_key(struct places *places, uint32_t stack)
{
	uint32_t key = places->keys[stack];

	return places_settled(places, key) ? key : places_find(places, stack);
}

/* The key of samples that are no stack: of this function alone. */
uint32_t places_key_alone(struct places *places, uint32_t function);

#endif
