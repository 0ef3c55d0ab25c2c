/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "sym_dwarf.h"
#include "sym_dwarf_state.h"

enum {
	RANGES_TRIED_MAX = 64,		/* ranges that are looked at for one address, since ranges may overlap */
	LEVELS_MAX = 64,		/* nested functions, and namespaces */
	ENTRIES_MAX = 1 << 20,		/* entries looked at for one address */
	NAME_MAX_TOLD = 1024,		/* bytes of a name; longer ones are cut */
	FORM_COST = 128,		/* bytes that libdw keeps for each abbreviation */
};

struct walk {
	const struct sym_dwarf *dwarf;
	uint64_t address;
	int entries;			/* looked at so far */
	FILE *names;
};

static const char *text_of(const struct walk *walk, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && sym_dwarf_text_ends(walk->dwarf, text) ? text : NULL;
}

/* Adds a function's name: the linkage name if there is one, since demangling it gives all namespaces. */
static void add_name(const struct walk *walk, Dwarf_Die *die)
{
	const char *name = text_of(walk, die, DW_AT_linkage_name);

	if (!name)
		name = text_of(walk, die, DW_AT_name);
	for (size_t i = 0; name && name[i] && i < NAME_MAX_TOLD; i++)
		putc(name[i] == '\n' ? '?' : name[i], walk->names);
	putc('\n', walk->names);
}

/* Can this entry contain the address's code? `*covers`: it is known to. */
static bool leads_on(const struct walk *walk, Dwarf_Die *die, bool *covers)
{
	*covers = sym_dwarf_is_code(die) && dwarf_haspc(die, walk->address) == 1;
	return *covers || sym_dwarf_has_functions(die);
}

/* True: the address was found, so the search ends. */
static bool descend(struct walk *walk, Dwarf_Die *parent, int level)
{
	Dwarf_Die child;
	bool covers;
	int more = level < LEVELS_MAX ? dwarf_child(parent, &child) : 1;

	for (; more == 0 && walk->entries < ENTRIES_MAX; more = dwarf_siblingof(&child, &child)) {
		walk->entries++;
		if (!leads_on(walk, &child, &covers))
			continue;
		if (covers && dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			add_name(walk, &child);
		if (descend(walk, &child, level + 1) || covers)
			return true;
	}
	return false;
}

/* Of its entries, libdw keeps the abbreviations. */
bool sym_dwarf_pay_unit(struct sym_dwarf *dwarf, struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Off at = 0;
	size_t length;

	while (!unit->walked) {
		const Dwarf_Abbrev *form;

		if (!sym_dwarf_pay(dwarf, FORM_COST))
			return false;
		form = dwarf_getabbrev(die, at, &length);
		unit->walked = !form || form == DWARF_END_ABBREV;
		at += length;
	}
	return true;
}

static bool walk_unit(struct walk *walk, struct sym_dwarf *dwarf, const struct range *range,
	bool *full)
{
	struct unit *unit = &dwarf->units[range->unit];
	Dwarf_Die die;

	if (walk->address >= range->high || !dwarf_offdie(dwarf->dwarf, unit->die, &die))
		return false;
	*full = !sym_dwarf_pay_unit(dwarf, unit, &die);
	return !*full && descend(walk, &die, 0);
}

char *sym_dwarf_inlined(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	struct walk walk = { .dwarf = dwarf, .address = address };
	uint32_t at = sym_dwarf_ranges_from(dwarf, address);
	char *text = NULL;
	size_t size;

	*full = false;
	walk.names = util_text_stream(&text, &size);
	if (!walk.names) {
		*full = true;
		return NULL;
	}
	for (int tried = 0; at > 0 && tried < RANGES_TRIED_MAX && !*full; tried++)
		if (walk_unit(&walk, dwarf, &dwarf->ranges[--at], full))
			break;
	if (util_text_whole(walk.names, &text))
		return text;
	*full = true;
	free(text);
	return NULL;
}
