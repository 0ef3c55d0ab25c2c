/* SPDX-License-Identifier: MIT */
/* Allocators tell the kernel what they give out and take back; it makes trace events of that (kernel/hook_calls.c). */
#ifndef TRACED_H
#define TRACED_H

#include <stdint.h>

enum traced_allocator { TRACED_SLAB, TRACED_PAGES };

/* thread or interrupts off. Alloc comes after the allocator has given it out, free before the allocator takes it. */
void traced_alloc(enum traced_allocator allocator, const void *address, uint64_t bytes);
void traced_free(enum traced_allocator allocator, const void *address);

#endif
