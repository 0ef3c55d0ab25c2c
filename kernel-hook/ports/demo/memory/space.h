/* SPDX-License-Identifier: MIT */
/*
 * Address spaces: four levels of page tables (Intel SDM 3A, section 4.5). The upper half is the kernel's, and the same
 * in all of them. The number of a space is the physical address of its top table.
 */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* Any context. The kernel's own space, which has no program in it. */
uint64_t space_kernel(void);

/* thread, at start-up, when all CPUs are up. Removes the identity map: the lower half is for programs from now on. */
void space_drop_identity(void);

/* thread. New returns 0 if there is no memory. Free also frees the pages in the space, which no CPU may be using. */
uint64_t space_new(void);
void space_free(uint64_t space);

/* thread or interrupts off. Maps a page, which is from page_alloc(0). False: there is no memory for the tables. */
bool space_map(uint64_t space, uint64_t address, void *page);

/*
 * Any context, if the space is the current one or cannot be freed meanwhile. Finds where the kernel sees a user
 * address. NULL: the program has no page there.
 */
void *space_find(uint64_t space, uint64_t address);

/* Likewise. Copies from and to user memory. False: a part of it is not there. */
bool space_read(uint64_t space, uint64_t address, void *to, uint64_t size);
bool space_write(uint64_t space, uint64_t address, const void *from, uint64_t size);

#endif
