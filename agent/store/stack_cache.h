/* SPDX-License-Identifier: MIT */
/*
 * In front of stacks.h: the leaf nodes of the stacks that were met of late, found by the words of a
 * sample as they come from the wire, without a walk through the tree. It may forget, and the tree
 * is asked again.
 *
 * Frames are not compared: 128 bits stand for them, made by NH (Black and others, UMAC, 1999) under
 * secret random keys. Any two different samples agree with a probability of at most 2^-64. The set
 * in which to look is chosen by a key of its own, so that a look-up compares six samples which
 * have nothing to do with those bits: a guest that sends ten million samples a second for ten
 * years, of whatever words, has one of them charged to a wrong stack with a chance of about 1 in
 * 1,000. To compare would take as many words from memory as stacks have frames, which is most of
 * what the cache saves.
 */
#ifndef STACK_CACHE_H
#define STACK_CACHE_H

#include <stdint.h>

struct budget;
struct sample;
struct stack_cache;

#define STACKS_NONE 0xffffffffu		/* no stack of stacks.h */

enum { STACK_CACHE_BYTES = 4 << 20 };	/* at most; and at most a 64th of the budget */

struct stack_print {
	uint64_t low, high;
	uint32_t spread;		/* chooses the set */
};

/* Without random numbers it keeps nothing; without memory likewise, until there is some again. */
struct stack_cache *stack_cache_new(struct budget *budget);
void stack_cache_free(struct stack_cache *cache);

/* All that decides which stack it is; `space` as in stacks_key. */
void stack_cache_print(const struct stack_cache *cache, const struct sample *sample,
	uint32_t space, struct stack_print *print);

/* Has the memory fetched in which this print will be looked for. */
void stack_cache_fetch(const struct stack_cache *cache, const struct stack_print *print);

/* STACKS_NONE: not kept, or not any more. */
uint32_t stack_cache_find(const struct stack_cache *cache, const struct stack_print *print);

/* For a print that was not found; where all of its places are taken, another one makes room. */
void stack_cache_keep(struct stack_cache *cache, const struct stack_print *print, uint32_t node);

#endif
