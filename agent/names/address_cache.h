/* SPDX-License-Identifier: MIT */
/* Remembers which function an address of a space resolved to. Bounded: when it is full, it forgets everything. */
#ifndef ADDRESS_CACHE_H
#define ADDRESS_CACHE_H

#include <stdint.h>

struct address_cache;
struct budget;

struct address_cache *address_cache_new(struct budget *budget);
void address_cache_free(struct address_cache *cache);

/* Returns the id of the function. FUNCTION_NONE: the pair is not in the cache. */
uint32_t address_cache_find(const struct address_cache *cache, uint32_t space, uint64_t address);

/* Prefetches the memory for a pair that will be looked up soon. */
void address_cache_fetch(const struct address_cache *cache, uint32_t space, uint64_t address);

/* The pair must not be in the cache yet. */
void address_cache_add(struct address_cache *cache, uint32_t space, uint64_t address,
	uint32_t function);
void address_cache_clear(struct address_cache *cache);

#endif
