/* SPDX-License-Identifier: MIT */
/*
 * The code symbols of one object, sorted by link address: filled, sorted once, then only read. Symbols at
 * the same address are aliases: one of them answers for all; the others can be found by name. It is one that has a
 * size, then one that is typed as a function. A name that no function has, such as _etext or __start_x, stands behind
 * all that may be functions, weak ones too: in a list without sizes, the name alone tells. Of equals it is the one that
 * the kernel's own table has first (scripts/kallsyms.c), as perf has it: not a weak one, not a label of a linker script
 * (x_start may also be a function), the fewest underscores in front, and then the first one in the file. An absolute
 * symbol or a made up name stands behind all of these.
 */
#ifndef SYMBOL_TABLE_H
#define SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

#define SYMBOL_NONE 0xffffffffu

/* The most that one table holds, whatever a file says: about 400 MB in all. */
enum {
	SYMBOL_TABLE_MAX = 4 << 20,		/* symbols */
	SYMBOL_TABLE_NAMES_MAX = 256 << 20,	/* bytes of names */
	SYMBOL_NAME_MAX = 4095,			/* bytes of one name; longer ones are cut */
};

struct symbol {
	uint64_t address, end;		/* link addresses; covers [address, end) */
	const char *name;		/* as in the file: mangled, any bytes */
	const char *module;		/* a kernel module's name, or "" */
	bool sized;			/* false: its file does not tell its size; it ends at the next symbol */
};

struct symbol_entry {			/* one symbol as its file tells it; texts need no zero at the end */
	uint64_t address;
	uint64_t size;			/* 0: unknown; it then ends at the next symbol */
	uint64_t limit;			/* it never goes beyond this: the end of its section */
	const char *name, *module;
	size_t name_size, module_size;
	bool typed;			/* its file says that it is a function, not just a label */
	bool weak, alias;		/* alias: the kernel's own table has another symbol first */
	bool apart;			/* not tied to a section: an absolute symbol; or its name is made up */
};

struct symbol_table *symbol_table_new(struct budget *budget);
void symbol_table_free(struct symbol_table *table);	/* freed by the last holder; any thread */

/* Adds a holder, to a table that is sorted. */
struct symbol_table *symbol_table_hold(struct symbol_table *table);

/*
 * Adds a symbol. Names that are no functions are skipped: mapping symbols, compiler-local labels, empty
 * ones. False: the table is full, or there is no memory left; it stays usable as it is.
 */
bool symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry);

/* True if a symbol was refused because memory was short. */
bool symbol_table_starved(const struct symbol_table *table);

/* Counts a symbol, or a line, of the file that makes no sense. */
void symbol_table_refuse(struct symbol_table *table);
uint32_t symbol_table_refused(const struct symbol_table *table);

/* To be called once, after the last add and before any question. */
void symbol_table_sort(struct symbol_table *table);

/* After the sort, each index below the count is that of a symbol, in order of address. */
uint32_t symbol_table_count(const struct symbol_table *table);
struct symbol symbol_table_get(const struct symbol_table *table, uint32_t index);

/* The innermost symbol that covers the address; SYMBOL_NONE: none does. */
uint32_t symbol_table_find(const struct symbol_table *table, uint64_t address);

/*
 * Where the symbol of that name starts; aliases count; the lowest address if there are several. False:
 * there is none.
 */
bool symbol_table_address(const struct symbol_table *table, const char *name, uint64_t *address);

/*
 * The symbols of that name, or with a '.' behind it: so compilers name their copies of a function, and its parts. At
 * most `most` are put into `found`, each with the end of the one that answers for its address. Returns how many there
 * are.
 */
uint32_t symbol_table_named(const struct symbol_table *table, const char *name, struct symbol *found, uint32_t most);

/* ---- to demangle a name ---- */

/* Turns mangled C++ and Rust names (legacy and v0) into what a person wrote. */

enum {
	DEMANGLE_IN_MAX = 1024,		/* bytes; libiberty gives up there, too */
	DEMANGLE_OUT_MAX = 4096,	/* bytes; a short name can stand for an endless text */
};

/* Fresh memory. NULL: the name is not mangled, or its text would be too long. Any thread. */
char *demangle(const char *name);

/* The name as ktop shows it: demangled if it is mangled, and printable; fresh memory. */
char *demangle_shown(const char *name);

/* ---- sym text ---- */

/*
 * Lists of symbols as text: nm, nm -CS, System.map, and /proc/kallsyms with its [module] column. A line is
 * `address [size] type name [TAB [module]]`; address and size are hexadecimal, the type is one letter as in
 * nm(1), with one blank behind it. Only code is taken (T, t, W, w, i). A line of another form is refused and counted:
 * so are those of objdump, readelf, nm -f posix or sysv, and of linkers' maps.
 */

struct symbol_table;

/* False with `error` set: it is no such list, or names no code. `path` is for the error. */
bool sym_text_read(const char *text, size_t size, const char *path, struct symbol_table *table,
	char **error);

#endif
