/* SPDX-License-Identifier: MIT */
/*
 * Linux's own table of its symbols (linux/scripts/kallsyms.c), found by its shape alone, in an image or
 * in what was read of memory: of 4.20 to 6.12, in both orders of its parts. Nothing is owned: it lies
 * in the bytes where it was found.
 */
#ifndef KALLSYMS_H
#define KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_bytes;

enum { KALLSYMS_NAME_MAX = 1023 };	/* bytes of a name; the rest is cut off */

enum kallsyms_addresses {
	KALLSYMS_WORDS,			/* the addresses themselves */
	KALLSYMS_OFFSETS,		/* 32 bits each, above the base */
	KALLSYMS_OFFSETS_PERCPU,	/* likewise; those that are not negative are addresses themselves */
};

struct kallsyms {
	uint32_t count;
	enum kallsyms_addresses kind;
	size_t word;			/* bytes of an address */
	uint64_t base;
	size_t base_at;			/* where the base stands in the bytes; 0: there is none */
	const uint8_t *names, *names_end;
	const uint8_t *tokens, *token_index;
	const uint8_t *addresses;
};

/* False: there is none, or it makes no sense. Takes a time bounded by the bytes' size. */
bool kallsyms_find(const struct kernel_bytes *kernel, struct kallsyms *kallsyms);

/* The symbols in order of address. Starts as { .index = 0 }. */
struct kallsyms_cursor {
	uint32_t index;			/* of the next one */
	const uint8_t *next;		/* NULL: the first */

	uint64_t address;
	char type;			/* as nm has it: 'T', 't', 'D'... */
	bool absolute;			/* it does not move with the kernel: a place in each CPU's own area */
	size_t size;			/* of the name */
	char name[KALLSYMS_NAME_MAX + 1];
};

/* False: there are no more. */
bool kallsyms_next(const struct kallsyms *kallsyms, struct kallsyms_cursor *cursor);

#endif
