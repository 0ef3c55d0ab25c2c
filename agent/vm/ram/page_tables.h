/* SPDX-License-Identifier: MIT */
/*
 * A walk of a guest's page tables, from a virtual to a physical address. The tables are the guest's, and hostile: a
 * walk reads one entry for each level, wherever they point, and never more than five.
 */
#ifndef PAGE_TABLES_H
#define PAGE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of a CPU. Each kind of CPU has a function that fills these in. */
struct page_tables {
	uint64_t root;			/* the physical address of the first table */
	unsigned levels, page_bits;	/* tables from the root to the page; log2 of a page's size */
	unsigned bits;			/* of an address that count; those above them are all alike */
	bool is_arm;			/* how entries are written */
	bool upper;			/* only addresses in the upper half are in these tables */
};

/* x86-64 in long mode. `wide`: five levels (CR4.LA57). */
struct page_tables page_tables_x86_64(uint64_t cr3, bool wide);

/*
 * aarch64: the tables of the kernel's half. False: a way of translation that is not known here (52 bits of addresses,
 * or none at all).
 */
bool page_tables_aarch64(struct page_tables *tables, uint64_t ttbr1, uint64_t tcr);

/* Reads physical memory. False: some of it is not there. */
typedef bool page_tables_read(void *context, uint64_t physical, void *to, size_t size);

/* False: nothing is mapped there. What follows up to the end of the page of 4 KiB lies behind *physical. */
bool page_tables_find(const struct page_tables *tables, page_tables_read *read, void *context, uint64_t address,
	uint64_t *physical);

#endif
