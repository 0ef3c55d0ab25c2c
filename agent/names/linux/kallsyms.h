/* SPDX-License-Identifier: MIT */
/*
 * Linux's own table of its symbols (linux/scripts/kallsyms.c), of versions 4.20 to 6.12. It is found by its
 * form alone, in an image or in memory that was read, with its parts in either order. Nothing is owned: all
 * pointers lead into the bytes that were searched.
 */
#ifndef KALLSYMS_H
#define KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_bytes;

enum { KALLSYMS_NAME_MAX = 1023 };	/* bytes of a name; longer ones are cut */

enum kallsyms_addresses {
	KALLSYMS_WORDS,			/* the addresses themselves */
	KALLSYMS_OFFSETS,		/* 32 bits each, above the base */
	KALLSYMS_OFFSETS_PERCPU,	/* the same, but an offset that is not negative is itself an address */
};

struct kallsyms {
	uint32_t count;
	enum kallsyms_addresses kind;
	size_t word;			/* bytes of an address */
	uint64_t base;
	size_t base_at;			/* offset of the base in the bytes; 0: there is none */
	const uint8_t *names, *names_end;
	const uint8_t *tokens, *token_index;
	const uint8_t *addresses;
};

/* False: there is no such table, or it makes no sense. The time is bounded by the size of the bytes. */
bool kallsyms_find(const struct kernel_bytes *kernel, struct kallsyms *kallsyms);

/* A position among the symbols, which are in order of address. Starts as { .index = 0 }. */
struct kallsyms_cursor {
	uint32_t index;			/* of the next symbol */
	const uint8_t *next;		/* the next name; NULL: the first one */

	uint64_t address;
	char type;			/* as in nm(1): 'T', 't', 'D'... */
	bool absolute;			/* it does not move with the kernel: an offset in each CPU's own area */
	size_t size;			/* of the name */
	char name[KALLSYMS_NAME_MAX + 1];
};

/* Goes to the next symbol. False: there is none. */
bool kallsyms_next(const struct kallsyms *kallsyms, struct kallsyms_cursor *cursor);

#endif
