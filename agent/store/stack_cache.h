/* SPDX-License-Identifier: MIT */
/*
 * A cache in front of stacks.h. It finds the leaf node of a recent stack by the words of the sample, as
 * they come from the wire, without a walk through the tree. It may forget a stack; then the tree is asked.
 *
 * Frames are not compared. A print of 128 bits stands for them, made by NH (Black and others, UMAC, 1999)
 * under secret random keys. Two different samples have the same print with a probability of at most 2^-64.
 * Another key chooses the set, so a look-up compares six prints that are independent of that choice. Take a
 * guest that sends ten million samples a second for ten years, of whatever words: the chance that a single
 * one is charged to a wrong stack is about 1 in 1,000. Comparing the frames would read as many words from
 * memory as stacks have frames, and avoiding that is most of what the cache saves.
 */
#ifndef STACK_CACHE_H
#define STACK_CACHE_H

#include <stdint.h>

struct budget;
struct sample;
struct stack_cache;

#define STACKS_NONE 0xffffffffu		/* no stack, or none that is known */

enum { STACK_CACHE_BYTES = 4 << 20 };	/* at most; also at most a 64th of the budget */

struct stack_print {
	uint64_t low, high;
	uint32_t spread;		/* chooses the set */
};

/* Without random numbers the cache keeps nothing. Without memory it keeps nothing until there is some again. */
struct stack_cache *stack_cache_new(struct budget *budget);
void stack_cache_free(struct stack_cache *cache);

/* Makes the print from all that decides which stack a sample has. `space`: as in stacks_key. */
void stack_cache_print(const struct stack_cache *cache, const struct sample *sample,
	uint32_t space, struct stack_print *print);

/* Fetches the memory in which this print will be looked up. */
void stack_cache_fetch(const struct stack_cache *cache, const struct stack_print *print);

/* The node that was kept for the print. STACKS_NONE: none was, or it is forgotten. */
uint32_t stack_cache_find(const struct stack_cache *cache, const struct stack_print *print);

/* Keeps the node of a print that was not found. If all its places are taken, an older print is forgotten. */
void stack_cache_keep(struct stack_cache *cache, const struct stack_print *print, uint32_t node);

#endif
