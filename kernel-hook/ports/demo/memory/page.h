/* SPDX-License-Identifier: MIT */
/*
 * Pages: blocks of 2^order of them, aligned to their size, split and joined in pairs ("buddies";
 * Knuth, The Art of Computer Programming 1, section 2.5).
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdint.h>

enum { PAGE_ORDERS = 11 };

/* thread, at start-up: a piece of free memory. All pieces lie below DIRECT_SIZE. */
void page_add(uint64_t start, uint64_t end);

/*
 * thread, a trap of a program, or a switch of threads; no interrupt. In the direct map; not
 * cleared. NULL: there is none.
 */
void *page_alloc(uint32_t order);
void page_free(void *block, uint32_t order);

/* thread, at start-up: for ever, of any size. NULL: there is none. */
void *page_reserve(uint64_t size);

/* thread: a cleared page. */
void *page_alloc_clear(void);

/* Bytes that are free. */
uint64_t page_free_bytes(void);

#endif
