/* SPDX-License-Identifier: MIT */
/*
 * The code symbols of one object, sorted by link address: filled, sorted once, then only read.
 * Symbols at the same address are aliases: one of them answers, the others can be found by name.
 */
#ifndef SYMBOL_TABLE_H
#define SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

#define SYMBOL_NONE 0xffffffffu

/* What one table may hold, whatever a file says: about 400 MB in all. */
enum {
	SYMBOL_TABLE_MAX = 4 << 20,		/* symbols */
	SYMBOL_TABLE_NAMES_MAX = 256 << 20,	/* bytes of names */
	SYMBOL_NAME_MAX = 4095,			/* bytes of one name; the rest is cut off */
};

struct symbol {
	uint64_t address, end;		/* link addresses; covers [address, end) */
	const char *name;		/* as in the file: mangled, any bytes */
	const char *module;		/* a kernel module's name, or "" */
};

struct symbol_entry {			/* one symbol as a file tells it; texts need no end mark */
	uint64_t address;
	uint64_t size;			/* 0: unknown; it then runs to the next symbol */
	uint64_t limit;			/* it never runs beyond this: the end of its section */
	const char *name, *module;
	size_t name_size, module_size;
	bool global;
};

struct symbol_table *symbol_table_new(struct budget *budget);
void symbol_table_free(struct symbol_table *table);	/* goes with the last holder; any thread */

/* For one holder more, once it is sorted. */
struct symbol_table *symbol_table_hold(struct symbol_table *table);

/*
 * Names that are no functions (mapping symbols, compiler-local labels, empty ones) are passed over.
 * False when the table is full or there is no memory left: it stays usable as it is.
 */
bool symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry);

/* One was not added for want of memory. */
bool symbol_table_starved(const struct symbol_table *table);

/* A symbol, or a line, of the file that makes no sense: counted, and passed over. */
void symbol_table_refuse(struct symbol_table *table);
uint32_t symbol_table_refused(const struct symbol_table *table);

/* Once, after the last add and before any question. */
void symbol_table_sort(struct symbol_table *table);

/* The indices below the count stand for symbols for ever. */
uint32_t symbol_table_count(const struct symbol_table *table);
struct symbol symbol_table_get(const struct symbol_table *table, uint32_t index);

/* The innermost symbol that covers the address, or SYMBOL_NONE. */
uint32_t symbol_table_find(const struct symbol_table *table, uint64_t address);

/* Where the symbol of that name starts, aliases included; the lowest when there are several. */
bool symbol_table_address(const struct symbol_table *table, const char *name, uint64_t *address);

#endif
