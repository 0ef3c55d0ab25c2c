/* SPDX-License-Identifier: MIT */
/*
 * The allocator of pages. A block has 2^order pages and is aligned to its size; blocks are split and joined in pairs
 * ("buddies"; Knuth, The Art of Computer Programming 1, section 2.5).
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdint.h>

enum { PAGE_ORDERS = 11 };

/* thread, at start-up. Adds free memory, by physical addresses. Memory above DIRECT_SIZE is ignored. */
void page_add(uint64_t start, uint64_t end);

/*
 * thread, an exception in a program, or a switch of threads; not in an interrupt. Returns a block in the direct map,
 * which is not cleared. NULL: there is none.
 */
void *page_alloc(uint32_t order);
void page_free(void *block, uint32_t order);

/* thread, at start-up. Returns `size` bytes in one piece, which are never freed. NULL: there is no such piece. */
void *page_reserve(uint64_t size);

/* As page_alloc(0), but the page is cleared. */
void *page_alloc_clear(void);

/* Any context. How many bytes are free. */
uint64_t page_free_bytes(void);

#endif
