/* SPDX-License-Identifier: MIT */
/*
 * Address spaces: four levels of page tables (Intel SDM 3A, section 4.5). The upper half is the
 * kernel's and the same in all; a space is named by the physical address of its top table.
 */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's own, in which no program can be seen. */
uint64_t space_kernel(void);

/* thread, at start-up, when all CPUs are up: the lower half is left to the programs. */
void space_drop_identity(void);

/* thread. 0: no memory. space_free() gives its pages back as well; no CPU may be in it. */
uint64_t space_new(void);
void space_free(uint64_t space);

/* thread or interrupts off. Puts a page, from page_alloc(0), there; false: no memory for tables. */
bool space_map(uint64_t space, uint64_t address, void *page);

/* NMI, if the space is the current one or cannot be freed. NULL: the user has no page there. */
void *space_find(uint64_t space, uint64_t address);

/* NMI, likewise. Copies from, or to, user memory; false: a part of it is not there. */
bool space_read(uint64_t space, uint64_t address, void *to, uint64_t size);
bool space_write(uint64_t space, uint64_t address, const void *from, uint64_t size);

#endif
