/* SPDX-License-Identifier: MIT */
/*
 * The kernel's functions as the guest itself tells of them, one by one and again to each new host,
 * at run addresses. What is told later takes the place of what it overlaps: modules come and go.
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
	GUEST_SYMBOLS_NAMES_MAX = 64 << 20,	/* bytes, those of names that were replaced too */
};

struct guest_symbol {
	uint64_t address, end;
	uint32_t name;			/* guest_symbols_name knows */
	uint32_t function;		/* symbols.c: its id, FUNCTION_NONE: not made */
};

struct guest_symbols *guest_symbols_new(struct budget *budget);
void guest_symbols_free(struct guest_symbols *symbols);

/* True: an earlier answer may be different now. What makes no sense is passed over. */
bool guest_symbols_add(struct guest_symbols *symbols, uint64_t address, uint32_t size,
	struct text name);

/* Good until the next add; NULL: none covers the address. */
struct guest_symbol *guest_symbols_find(struct guest_symbols *symbols, uint64_t address);

/* As it was told: any bytes but zero. Good until the next add. */
const char *guest_symbols_name(const struct guest_symbols *symbols,
	const struct guest_symbol *symbol);

void guest_symbols_retry(struct guest_symbols *symbols);	/* they are about to be told again */
uint64_t guest_symbols_refused(const struct guest_symbols *symbols);	/* no room: names */

#endif
