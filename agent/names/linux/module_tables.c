/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/memory_reader.h"
#include "agent/base/quota.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "linux_kernel.h"
#include "module_tables.h"

enum { COMPARE_COST = 8 };		/* what a comparison of two modules spends */

struct known_module {
	struct kernel_module module;
	struct orc *orc;		/* NULL: none */
	bool seen;			/* in the reading of the list that is under way */
};

struct under_way {			/* a module of which a part was read */
	struct kernel_module module;	/* without a name: there is none */
	struct orc *orc;
	uint32_t passed;		/* symbols */
	bool missed;			/* some of it is still on its way */
	bool told;			/* all of it is there; the visitor has the module, and gets the symbols now */
};

struct code {				/* a part of a module that has ORC tables */
	uint64_t start, end;
	const struct orc *orc;
};

struct module_tables {
	struct budget *budget;
	struct known_module *modules;
	uint32_t count, room;
	struct code *code;		/* of all modules, in order of address */
	uint32_t code_count, code_room;
	bool changed;			/* `code` is to be made anew */
	struct under_way under_way;
};

struct module_tables *module_tables_new(struct budget *budget)
{
	struct module_tables *tables = util_alloc(sizeof(*tables));

	tables->budget = budget;
	return tables;
}

void module_tables_free(struct module_tables *tables)
{
	if (!tables)
		return;
	for (uint32_t i = 0; i < tables->count; i++)
		orc_free(tables->modules[i].orc);
	orc_free(tables->under_way.orc);
	budget_free(tables->budget, tables->code, tables->code_room * sizeof(*tables->code));
	budget_free(tables->budget, tables->modules, tables->room * sizeof(*tables->modules));
	free(tables);
}

struct reading {
	struct module_tables *tables;
	const struct linux_kernel *kernel;
	const struct walked_memory *memory;
	const struct module_visitor *visitor;
};

static bool is_same(const struct kernel_module *a, const struct kernel_module *b)
{
	return a->at == b->at && a->parts[0].address == b->parts[0].address && strcmp(a->name, b->name) == 0;
}

static struct known_module *find(struct module_tables *tables, const struct kernel_module *module)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		if (is_same(&tables->modules[i].module, module))
			return &tables->modules[i];
	}
	return NULL;
}

/* NULL: there is no memory. */
static struct known_module *add(struct module_tables *tables, const struct kernel_module *module)
{
	struct known_module *modules = budget_array(tables->budget, tables->modules, tables->count,
		&tables->room, sizeof(*modules));

	if (!modules)
		return NULL;
	tables->modules = modules;
	modules[tables->count] = (struct known_module) { .module = *module };
	return &modules[tables->count++];
}

static void forget(struct module_tables *tables)
{
	orc_free(tables->under_way.orc);
	tables->under_way = (struct under_way) { .orc = NULL };
}

static bool pass_symbol(void *context, const struct module_symbol *symbol)
{
	(void)context, (void)symbol;
	return true;
}

static bool tell_symbol(void *context, const struct module_symbol *symbol)
{
	const struct reading *reading = context;

	quota_spend(reading->memory->quota, WALK_TELL_COST);
	return reading->visitor->symbol(reading->visitor->context, symbol);
}

/* Reads the module's symbols, and at last its ORC tables. False: the turn is over. */
static bool look_at(const struct reading *reading, struct under_way *way)
{
	const struct module_visitor nobody = { .symbol = pass_symbol };
	const struct linux_kernel *kernel = reading->kernel;
	uint64_t awaited = memory_reader_awaited(reading->memory->reader);
	bool passed = module_symbols_visit(&kernel->layout, &way->module, reading->memory, &way->passed, &nobody) !=
		WALK_PAUSED;

	if (passed && kernel->orc)
		way->orc = module_orc(&kernel->layout, &way->module, reading->memory, orc_format(kernel->orc),
			reading->tables->budget);
	way->missed = way->missed || awaited != memory_reader_awaited(reading->memory->reader);
	return passed;
}

/* Tells the visitor of the module, once, and of its symbols. False: the turn is over. */
static bool tell(struct reading *reading, struct under_way *way)
{
	const struct module_visitor teller = { .symbol = tell_symbol, .context = reading };

	if (!way->told) {
		quota_spend(reading->memory->quota, (uint64_t)way->module.count * WALK_MAP_COST);
		if (!reading->visitor->module(reading->visitor->context, &way->module))
			return false;
		way->told = true;
		way->passed = 0;
	}
	return module_symbols_visit(&reading->kernel->layout, &way->module, reading->memory, &way->passed, &teller) !=
		WALK_PAUSED;
}

/*
 * Looks whether all of the module is there, then tells and keeps it. If some is still on its way, or there is no
 * memory, nothing is kept. False: the turn is over.
 */
static bool read_on(struct reading *reading, const struct kernel_module *module)
{
	struct module_tables *tables = reading->tables;
	struct under_way *way = &tables->under_way;
	struct known_module *known;

	if (!is_same(&way->module, module)) {
		forget(tables);
		way->module = *module;
	}
	if (!way->told && !look_at(reading, way))
		return false;
	if (!way->missed && !tell(reading, way))
		return false;
	known = way->missed ? NULL : add(tables, module);
	if (known) {
		known->seen = true;
		known->orc = way->orc;
		way->orc = NULL;
		tables->changed = true;
	}
	forget(tables);
	return true;
}

static bool take_module(void *context, const struct kernel_module *module)
{
	struct reading *reading = context;
	struct known_module *known = find(reading->tables, module);

	quota_spend(reading->memory->quota, (uint64_t)reading->tables->count * COMPARE_COST);
	if (known)
		known->seen = true;
	return known || read_on(reading, module);
}

static void drop_gone(struct module_tables *tables)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tables->count; i++) {
		if (tables->modules[i].seen)
			tables->modules[kept++] = tables->modules[i];
		else
			orc_free(tables->modules[i].orc);
	}
	tables->changed = tables->changed || kept != tables->count;
	tables->count = kept;
}

static int by_start(const void *left, const void *right)
{
	const struct code *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void add_code(struct module_tables *tables, const struct known_module *known)
{
	for (uint32_t i = 0; i < known->module.count; i++) {
		const struct module_part *part = &known->module.parts[i];
		struct code *code = budget_array(tables->budget, tables->code, tables->code_count, &tables->code_room,
			sizeof(*code));

		if (!code)
			return;
		tables->code = code;
		code[tables->code_count++] = (struct code) {
			.start = part->address, .end = part->address + part->size, .orc = known->orc,
		};
	}
}

static void index_code(struct module_tables *tables)
{
	tables->changed = false;
	tables->code_count = 0;
	for (uint32_t i = 0; i < tables->count; i++)
		if (tables->modules[i].orc)
			add_code(tables, &tables->modules[i]);
	if (tables->code_count)
		qsort(tables->code, tables->code_count, sizeof(*tables->code), by_start);
}

enum walk module_tables_read(struct module_tables *tables, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory, struct list_place *place, const struct module_visitor *visitor)
{
	struct reading reading = { .tables = tables, .kernel = kernel, .memory = memory, .visitor = visitor };
	const struct module_visitor own = { .module = take_module, .context = &reading };
	enum walk walk = WALK_FAILED;
	uint64_t head;

	if (!place->passed && !place->next) {
		forget(tables);
		for (uint32_t i = 0; i < tables->count; i++)
			tables->modules[i].seen = false;
	}
	if (linux_kernel_landmark(kernel, LANDMARK_MODULES, &head))
		walk = modules_visit(&kernel->layout, head + slide, memory, place, &own);
	if (walk == WALK_ENDED)
		drop_gone(tables);
	if (tables->changed)
		index_code(tables);
	return walk;
}

/* Of parts that overlap, which those of an honest kernel do not, it finds the one that begins last, or none. */
bool module_tables_find(const struct module_tables *tables, uint64_t address, struct orc_entry *entry)
{
	size_t behind = sorted_upto(tables->code, tables->code_count, sizeof(*tables->code),
		offsetof(struct code, start), address);
	const struct code *code = behind ? &tables->code[behind - 1] : NULL;

	return code && address < code->end && orc_find(code->orc, address, entry);
}
