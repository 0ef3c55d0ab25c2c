/* SPDX-License-Identifier: MIT */
/* The accesses of a thread on the weak memory. Elsewhere they are as usual. `order`: one of __ATOMIC_RELAXED ... */
#ifndef WEAK_ACCESSES_H
#define WEAK_ACCESSES_H

#include <stddef.h>
#include <stdint.h>

/* Plain data. */
void weak_read(const volatile void *at, size_t size);
void weak_write(const volatile void *at, size_t size);

/* Atomic ones, of `size` bytes, 8 at most. */
uint64_t weak_load(const volatile void *at, uint32_t size, int order);
void weak_store(volatile void *at, uint32_t size, uint64_t bits, int order);

/*
 * Keeps the bits of `keep` and adds this; returns the value before. A thread that acquires the new value also learns
 * what it would learn from the old one: this continues a release sequence.
 */
uint64_t weak_change(volatile void *at, uint32_t size, uint64_t keep, uint64_t add, int order);

void weak_fence(int order);

/* A store of this thread that is still on its way is done now. */
void weak_settle(void);

/* Before each run: reads which barrier the environment's WEAK_WITHOUT removes. */
void weak_remove(void);

#endif
