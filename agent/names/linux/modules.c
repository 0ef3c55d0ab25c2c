/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/memory_reader.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "kernel_layout.h"
#include "linux_kernel.h"
#include "modules.h"
#include "walk.h"

enum {
	SYMBOL = 24, SYMBOL_VALUE = 8, SYMBOL_SIZE = 16,	/* Elf64_Sym */
	NAME_MAX_BYTES = 512,
	CODE_MAX = 4 << 20,			/* bytes of one piece of generated code */
	ORC_MAX = 1 << 18, IP = 4, ENTRY = 6,
	ROW_COST = 16,				/* what a row of ORC spends when its table is made */
};

/* ---- the list ---- */

static bool add_part(struct page_reader *reader, const struct kernel_layout *layout, uint64_t at,
	struct kernel_module *module)
{
	struct module_part *part = &module->parts[module->count];

	if (!page_reader_64(reader, at + layout->part_base, &part->address) ||
			!page_reader_32(reader, at + layout->part_length, &part->size))
		return false;
	if (part->size && part->address + part->size > part->address)
		module->count++;
	return true;
}

static bool read_module(struct page_reader *reader, const struct kernel_layout *layout, uint64_t at,
	struct kernel_module *module)
{
	uint32_t parts = layout->parts_count < MODULE_PARTS - 1 ? layout->parts_count : MODULE_PARTS - 1;
	size_t room = layout->module_name_size < MODULE_NAME_MAX ? layout->module_name_size : MODULE_NAME_MAX;

	*module = (struct kernel_module) { .at = at };
	page_reader_text(reader, at + layout->module_name, module->name, room + 1);
	for (uint32_t i = 0; i < parts; i++) {
		if (!add_part(reader, layout, at + layout->parts + (uint64_t)i * layout->part_size, module))
			return false;
	}
	if (layout->init_part && !add_part(reader, layout, at + layout->init_part, module))
		return false;
	return module->name[0] && module->count;
}

enum walk modules_visit(const struct kernel_layout *layout, uint64_t head, const struct walked_memory *memory,
	struct list_place *place, const struct module_visitor *visitor)
{
	struct page_reader reader = page_reader_of(memory);

	if (!layout->modules || !page_reader_begin(&reader, head, place))
		return WALK_FAILED;
	for (; place->next != head && place->passed < MODULES_MAX; place->passed++) {
		struct kernel_module module;

		if (quota_is_spent(memory->quota) ||
				(read_module(&reader, layout, place->next - layout->module_list, &module) &&
				!visitor->module(visitor->context, &module)))
			return WALK_PAUSED;
		if (!page_reader_64(&reader, place->next, &place->next))
			return WALK_FAILED;
	}
	return place->next == head ? WALK_ENDED : WALK_FAILED;
}

static bool read_code(struct page_reader *reader, const struct code_list_layout *layout, uint64_t at,
	struct module_symbol *symbol, char name[NAME_MAX_BYTES])
{
	size_t room = layout->name_size < NAME_MAX_BYTES ? layout->name_size : NAME_MAX_BYTES;
	uint64_t length;

	*symbol = (struct module_symbol) { .type = 't', .name = name };
	name[0] = '\0';
	if (!page_reader_64(reader, at + layout->start, &symbol->address) ||
			!page_reader_64(reader, at + layout->length, &length))
		return false;
	symbol->size = layout->ends ? length - symbol->address : length;
	if (room)
		page_reader_text(reader, at + layout->name, name, room);
	return symbol->size && symbol->size <= CODE_MAX && symbol->address + symbol->size > symbol->address;
}

enum walk modules_code_visit(const struct code_list_layout *layout, uint64_t head, const struct walked_memory *memory,
	struct list_place *place, const struct module_visitor *visitor)
{
	struct page_reader reader = page_reader_of(memory);
	char name[NAME_MAX_BYTES];

	if (!layout->known || !page_reader_begin(&reader, head, place))
		return WALK_FAILED;
	for (; place->next != head && place->passed < MODULES_MAX; place->passed++) {
		struct module_symbol symbol;

		if (quota_is_spent(memory->quota) ||
				(read_code(&reader, layout, place->next - layout->list, &symbol, name) &&
				!visitor->symbol(visitor->context, &symbol)))
			return WALK_PAUSED;
		if (!page_reader_64(&reader, place->next, &place->next))
			return WALK_FAILED;
	}
	return place->next == head ? WALK_ENDED : WALK_FAILED;
}

/* ---- symbols ---- */

static bool lies_in(const struct kernel_module *module, uint64_t address)
{
	for (uint32_t i = 0; i < module->count; i++) {
		if (address >= module->parts[i].address && address - module->parts[i].address < module->parts[i].size)
			return true;
	}
	return false;
}

struct symbols_reader {
	struct page_reader rows, texts, types;
	uint64_t symbols, names, letters;	/* where they are */
	uint32_t count;
};

static bool open_symbols(struct symbols_reader *reader, const struct kernel_layout *layout,
	const struct kernel_module *module)
{
	uint64_t at;

	return page_reader_64(&reader->rows, module->at + layout->kallsyms, &at) &&
		page_reader_64(&reader->rows, at + layout->symbols, &reader->symbols) &&
		page_reader_64(&reader->rows, at + layout->texts, &reader->names) &&
		page_reader_64(&reader->rows, at + layout->types, &reader->letters) &&
		page_reader_32(&reader->rows, at + layout->symbols_count, &reader->count) &&
		reader->count <= MODULE_SYMBOLS_MAX;
}

/* A symbol of code, with its name; of any other, the name is "". False: it cannot be read. */
static bool read_symbol(struct symbols_reader *reader, const struct kernel_module *module, uint32_t index,
	struct module_symbol *symbol, char name[NAME_MAX_BYTES])
{
	uint8_t row[SYMBOL];

	*symbol = (struct module_symbol) { .name = name };
	name[0] = '\0';
	if (!page_reader_bytes(&reader->rows, reader->symbols + (uint64_t)index * SYMBOL, row, sizeof(row)) ||
			!page_reader_bytes(&reader->types, reader->letters + index, &symbol->type, 1))
		return false;
	symbol->address = bytes_64(row + SYMBOL_VALUE);
	symbol->size = bytes_64(row + SYMBOL_SIZE);
	if (symbol->type && strchr("TtWw", symbol->type) && lies_in(module, symbol->address))
		page_reader_text(&reader->texts, reader->names + bytes_32(row), name, NAME_MAX_BYTES);
	return true;
}

/* The first row of an ELF file's symbols is none. */
enum walk module_symbols_visit(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct walked_memory *memory, uint32_t *passed, const struct module_visitor *visitor)
{
	struct symbols_reader reader = {
		.rows = page_reader_of(memory), .texts = page_reader_of(memory), .types = page_reader_of(memory),
	};

	if (!layout->modules || !open_symbols(&reader, layout, module))
		return WALK_FAILED;
	for (; *passed + 1 < reader.count; ++*passed) {
		struct module_symbol symbol;
		char name[NAME_MAX_BYTES];

		if (quota_is_spent(memory->quota))
			return WALK_PAUSED;
		if (!read_symbol(&reader, module, *passed + 1, &symbol, name))
			return WALK_FAILED;
		if (name[0] && !visitor->symbol(visitor->context, &symbol))
			return WALK_PAUSED;
	}
	return WALK_ENDED;
}

/* ---- ORC ---- */

static uint8_t *read_table(struct page_reader *reader, uint64_t at, size_t size, struct budget *budget)
{
	uint8_t *table = budget_resize(budget, NULL, 0, size);

	if (table && !page_reader_bytes(reader, at, table, size)) {
		budget_free(budget, table, size);
		return NULL;
	}
	return table;
}

struct orc *module_orc(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct walked_memory *memory, enum orc_format format, struct budget *budget)
{
	struct page_reader reader = page_reader_of(memory);
	uint64_t ips, entries;
	struct orc *orc = NULL;
	uint32_t count;
	uint8_t *ip, *entry;

	if (!layout->orc || !page_reader_32(&reader, module->at + layout->orc_count, &count) ||
			!count || count > ORC_MAX ||
			!page_reader_64(&reader, module->at + layout->orc_ips, &ips) ||
			!page_reader_64(&reader, module->at + layout->orc_entries, &entries))
		return NULL;
	ip = read_table(&reader, ips, (size_t)count * IP, budget);
	entry = ip ? read_table(&reader, entries, (size_t)count * ENTRY, budget) : NULL;
	if (entry) {
		quota_spend(memory->quota, (uint64_t)count * ROW_COST);
		orc = orc_new(&(struct orc_tables) {
			.ips = ip, .ips_size = (size_t)count * IP, .address = ips,
			.entries = entry, .entries_size = (size_t)count * ENTRY, .sorted = true,
		}, format, budget);
	}
	if (ip)
		budget_free(budget, ip, (size_t)count * IP);
	if (entry)
		budget_free(budget, entry, (size_t)count * ENTRY);
	return orc;
}

/* ---- their tables ---- */

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
