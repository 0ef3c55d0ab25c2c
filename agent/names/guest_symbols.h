/* SPDX-License-Identifier: MIT */
/*
 * The kernel's functions as the guest itself tells them: one by one, at run addresses, and again to each
 * new host. Modules come and go, so a function replaces earlier ones that it overlaps.
 */
#ifndef GUEST_SYMBOLS_H
#define GUEST_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct guest_symbols;

enum {
	GUEST_SYMBOLS_MAX = 1 << 20,
	GUEST_SYMBOLS_NAMES_MAX = 64 << 20,	/* bytes, including names that were replaced */
};

struct guest_symbol {
	uint64_t address, end;
	uint32_t name;			/* for guest_symbols_name */
	uint32_t function;		/* its id, set by symbols.c; FUNCTION_NONE: not made yet */
};

struct guest_symbols *guest_symbols_new(struct budget *budget);
void guest_symbols_free(struct guest_symbols *symbols);

/* Returns true if an earlier answer may be different now. Ignores what cannot be a function. */
bool guest_symbols_add(struct guest_symbols *symbols, uint64_t address, uint32_t size,
	struct text name);

/* Valid until the next add. NULL: no function covers the address. */
struct guest_symbol *guest_symbols_find(const struct guest_symbols *symbols, uint64_t address);

/* As the guest told it: any bytes but zero. Valid until the next add. */
const char *guest_symbols_name(const struct guest_symbols *symbols,
	const struct guest_symbol *symbol);

void guest_symbols_retry(struct guest_symbols *symbols);	/* the guest is about to tell them again */
uint64_t guest_symbols_refused(const struct guest_symbols *symbols);	/* names without room */

/* ---- functions ---- */

/*
 * All functions that ktop has met, by dense ids. They never move. functions_get and functions_count are for
 * any thread; the rest is for one owner thread.
 */

struct debug_object;
struct function;
struct functions;

/*
 * The most functions; they also get a quarter of the budget at most. With its rows in answers, each may
 * cost 1 KiB.
 */
enum { FUNCTIONS_MAX = 4 << 20, FUNCTIONS_COST = 1 << 10 };

/* Where a function's line is read from. */
struct origin {
	const struct debug_object *object;	/* NULL: nowhere */
	const char *line;		/* NULL: not known yet */
	bool asked;
	bool starved;			/* `line` is "" because memory was short */
};

struct functions *functions_new(struct budget *budget);
void functions_free(struct functions *functions);

/*
 * Adds a function and takes over its name (fresh memory). Functions that find no room all get the id of a
 * single "[unknown]".
 */
uint32_t functions_add(struct functions *functions, const struct function *function,
	const struct debug_object *object);

bool functions_is_rest(const struct functions *functions, uint32_t id);	/* is it that single "[unknown]"? */

/*
 * True if memory was short for some functions. The caller then adds them again, so the count of refused ones
 * starts anew.
 */
bool functions_retry(struct functions *functions);

uint64_t functions_refused(const struct functions *functions);	/* how often there was no room, since functions_retry */
size_t functions_count(const struct functions *functions);
const struct function *functions_get(const struct functions *functions, uint32_t id);

/* The part of a function that only the owner uses. */
struct origin *functions_origin(struct functions *functions, uint32_t id);

/*
 * Sets the function's line, once, and takes over the text (fresh memory). NULL: there was no memory to read
 * it. False: there is no memory for it, and the line is "" until functions_retry_lines.
 */
bool functions_set_line(struct functions *functions, uint32_t id, char *line);
void functions_retry_lines(struct functions *functions);

#endif
