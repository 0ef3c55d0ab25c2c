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
	struct sym_dwarf *dwarf;
	uint64_t address;
	bool calls;			/* where functions are called is told, and not their names */
	int entries;			/* looked at so far */
	Dwarf_Die unit;
	FILE *told;			/* one line for each function */
};

static const char *text_of(const struct walk *walk, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && sym_dwarf_text_ends(walk->dwarf, text) ? text : NULL;
}

static void put(FILE *to, const char *text, size_t most)
{
	for (size_t i = 0; text && text[i] && i < most; i++)
		putc(text[i] == '\n' ? '?' : text[i], to);
}

/* Adds a function's name: the linkage name if there is one, since demangling it gives all namespaces. */
static void add_name(struct walk *walk, Dwarf_Die *die)
{
	const char *name = text_of(walk, die, DW_AT_linkage_name);

	put(walk->told, name ? name : text_of(walk, die, DW_AT_name), NAME_MAX_TOLD);
	putc('\n', walk->told);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) == 0 ? number : 0;
}

/* Adds the line that calls the function; an empty one if that is not known. */
static void add_call(struct walk *walk, Dwarf_Die *die)
{
	uint64_t index = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;
	char *line = NULL;

	if (dwarf_getsrcfiles(&walk->unit, &files, &count) == 0 && index < count)
		line = sym_dwarf_place(walk->dwarf, &walk->unit, dwarf_filesrc(files, index, NULL, NULL),
			number_of(die, DW_AT_call_line));
	put(walk->told, line, SIZE_MAX);
	putc('\n', walk->told);
	free(line);
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
			(walk->calls ? add_call : add_name)(walk, &child);
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

static bool walk_unit(struct walk *walk, const struct range *range, bool *full)
{
	struct unit *unit = &walk->dwarf->units[range->unit];

	if (walk->address >= range->high || !dwarf_offdie(walk->dwarf->dwarf, unit->die, &walk->unit))
		return false;
	*full = !sym_dwarf_pay_unit(walk->dwarf, unit, &walk->unit) ||
		(walk->calls && !sym_dwarf_pay_lines(walk->dwarf, unit, &walk->unit));
	return !*full && descend(walk, &walk->unit, 0);
}

static void walk_units(struct walk *walk, bool *full)
{
	uint32_t at = sym_dwarf_ranges_from(walk->dwarf, walk->address);

	for (int tried = 0; at > 0 && tried < RANGES_TRIED_MAX && !*full; tried++)
		if (walk_unit(walk, &walk->dwarf->ranges[--at], full))
			break;
}

/* `last`: what stands behind the lines of the functions; NULL: nothing. */
static char *tell(struct walk *walk, const char *last, bool *full)
{
	char *text = NULL;
	size_t size;

	walk->told = *full ? NULL : util_text_stream(&text, &size);
	if (!walk->told) {
		*full = true;
		return NULL;
	}
	walk_units(walk, full);
	put(walk->told, last, SIZE_MAX);
	if (util_text_whole(walk->told, &text))
		return text;
	*full = true;
	free(text);
	return NULL;
}

char *sym_dwarf_inlined(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	*full = false;
	return tell(&(struct walk) { .dwarf = dwarf, .address = address }, NULL, full);
}

char *sym_dwarf_lines_at(struct sym_dwarf *dwarf, uint64_t address, bool *full)
{
	char *row = sym_dwarf_row_line(dwarf, address, full);
	char *text = tell(&(struct walk) { .dwarf = dwarf, .address = address, .calls = true }, row, full);

	free(row);
	return text;
}
