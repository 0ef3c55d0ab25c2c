/* SPDX-License-Identifier: MIT */
/*
 * The kernel's functions as the guest itself tells them: one by one, at run addresses, and again to each
 * new host. Modules come and go, so a function replaces earlier ones that it overlaps.
 */
#ifndef GUEST_SYMBOLS_H
#define GUEST_SYMBOLS_H

#include <stdbool.h>
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

#endif
