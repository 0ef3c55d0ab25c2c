/* SPDX-License-Identifier: MIT */
/* Allocators tell the kernel what they give out and take back; it makes trace events of that (kernel/hook_calls.c). */
#ifndef TRACED_H
#define TRACED_H

#include <stdint.h>

/*
 * What an allocator has given out, and not taken back, by its own count: what trace events tell is compared with that,
 * in the memory of a machine that stands still (tests/e2e/memory).
 */
struct memory_books {
	uint64_t objects, bytes;
};
extern struct memory_books slab_books, page_books;

enum traced_allocator { TRACED_SLAB, TRACED_PAGES };

/* thread or interrupts off. Alloc comes after the allocator has given it out, free before the allocator takes it. */
void traced_alloc(enum traced_allocator allocator, const void *address, uint64_t bytes);
void traced_free(enum traced_allocator allocator, const void *address);

#endif
