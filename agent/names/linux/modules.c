/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/bytes.h"
#include "kernel_layout.h"
#include "modules.h"
#include "page_reader.h"

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
