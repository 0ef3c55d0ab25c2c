/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "linux_kernel.h"
#include "module_tables.h"

struct row {
	struct kernel_module module;
	struct orc *orc;		/* NULL: none */
	bool seen;			/* at this time */
};

struct module_tables {
	struct budget *budget;
	struct row *rows;
	uint32_t count, room;
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
		orc_free(tables->rows[i].orc);
	budget_free(tables->budget, tables->rows, tables->room * sizeof(*tables->rows));
	free(tables);
}

uint32_t module_tables_count(const struct module_tables *tables)
{
	return tables->count;
}

struct reading {
	struct module_tables *tables;
	const struct linux_kernel *kernel;
	const struct memory_reader *memory;
	const struct module_visitor *visitor;
};

static bool is_same(const struct kernel_module *a, const struct kernel_module *b)
{
	return a->at == b->at && a->parts[0].address == b->parts[0].address && strcmp(a->name, b->name) == 0;
}

static struct row *find_row(struct module_tables *tables, const struct kernel_module *module)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		if (is_same(&tables->rows[i].module, module))
			return &tables->rows[i];
	}
	return NULL;
}

/* NULL: there is no memory. */
static struct row *add_row(struct module_tables *tables, const struct kernel_module *module)
{
	struct row *rows = budget_array(tables->budget, tables->rows, tables->count, &tables->room, sizeof(*rows));

	if (!rows)
		return NULL;
	tables->rows = rows;
	rows[tables->count] = (struct row) { .module = *module };
	return &rows[tables->count++];
}

static bool pass_symbol(void *context, const struct module_symbol *symbol)
{
	(void)context, (void)symbol;
	return true;
}

/* Reads all that a module has, and keeps its ORC tables. False: some of it is still on its way, and nothing is kept. */
static bool is_there(const struct reading *reading, const struct kernel_module *module, struct orc **orc)
{
	const struct module_visitor nobody = { .symbol = pass_symbol };
	const struct linux_kernel *kernel = reading->kernel;
	uint64_t awaited = memory_reader_awaited(reading->memory);

	module_symbols_visit(&kernel->layout, module, reading->memory, &nobody);
	*orc = kernel->orc ? module_orc(&kernel->layout, module, reading->memory, orc_format(kernel->orc),
		reading->tables->budget) : NULL;
	if (awaited == memory_reader_awaited(reading->memory))
		return true;
	orc_free(*orc);
	return false;
}

static bool take_module(void *context, const struct kernel_module *module)
{
	struct reading *reading = context;
	const struct linux_kernel *kernel = reading->kernel;
	struct row *row = find_row(reading->tables, module);
	struct orc *orc;

	if (row) {
		row->seen = true;
		return true;
	}
	if (!is_there(reading, module, &orc))
		return true;
	row = add_row(reading->tables, module);
	if (!row) {
		orc_free(orc);
		return false;
	}
	row->seen = true;
	row->orc = orc;
	if (!reading->visitor->module(reading->visitor->context, module))
		return false;
	module_symbols_visit(&kernel->layout, module, reading->memory, reading->visitor);
	return true;
}

static void drop_gone(struct module_tables *tables)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tables->count; i++) {
		if (tables->rows[i].seen)
			tables->rows[kept++] = tables->rows[i];
		else
			orc_free(tables->rows[i].orc);
	}
	tables->count = kept;
}

bool module_tables_read(struct module_tables *tables, const struct linux_kernel *kernel, uint64_t slide,
	const struct memory_reader *memory, const struct module_visitor *visitor)
{
	struct reading reading = { .tables = tables, .kernel = kernel, .memory = memory, .visitor = visitor };
	const struct module_visitor own = { .module = take_module, .context = &reading };
	uint64_t head;

	for (uint32_t i = 0; i < tables->count; i++)
		tables->rows[i].seen = false;
	if (!linux_kernel_landmark(kernel, LANDMARK_MODULES, &head) ||
			!modules_visit(&kernel->layout, head + slide, memory, &own))
		return false;
	drop_gone(tables);
	return true;
}

static bool lies_in(const struct kernel_module *module, uint64_t address)
{
	for (uint32_t i = 0; i < module->count; i++) {
		if (address >= module->parts[i].address && address - module->parts[i].address < module->parts[i].size)
			return true;
	}
	return false;
}

bool module_tables_find(const struct module_tables *tables, uint64_t address, struct orc_entry *entry)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		const struct row *row = &tables->rows[i];

		if (row->orc && lies_in(&row->module, address))
			return orc_find(row->orc, address, entry);
	}
	return false;
}
