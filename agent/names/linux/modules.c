/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/memory_reader.h"
#include "bytes.h"
#include "kernel_layout.h"
#include "modules.h"

enum {
	PAGE = 4096,
	SYMBOL = 24, SYMBOL_VALUE = 8, SYMBOL_SIZE = 16,	/* Elf64_Sym */
	NAME_MAX_BYTES = 512,
	CODE_MAX = 4 << 20,			/* bytes of one piece of generated code */
	ORC_MAX = 1 << 18, IP = 4, ENTRY = 6,
};

/* Keeps the last page, so that reads in order of address cost one read a page. */
struct page_reader {
	const struct memory_reader *memory;
	uint64_t page;
	bool known;			/* bytes are those of the page */
	uint8_t bytes[PAGE];
};

static bool read_bytes(struct page_reader *reader, uint64_t address, void *to, size_t size)
{
	for (size_t done = 0; done < size; ) {
		uint64_t at = address + done, page = at / PAGE * PAGE;
		size_t from = (size_t)(at - page), left = size - done < PAGE - from ? size - done : PAGE - from;

		if (!reader->known || reader->page != page)
			reader->known = reader->memory->read(reader->memory->context, page, reader->bytes, PAGE);
		reader->page = page;
		if (!reader->known)
			return false;
		memcpy((uint8_t *)to + done, reader->bytes + from, left);
		done += left;
	}
	return true;
}

/* Reads a text, up to its end, the end of `room`, or the first page that cannot be read. */
static void read_text(struct page_reader *reader, uint64_t address, char *text, size_t room)
{
	size_t size = 0;

	while (size + 1 < room && read_bytes(reader, address + size, text + size, 1) && text[size])
		size++;
	text[size] = '\0';
}

static bool read_64(struct page_reader *reader, uint64_t address, uint64_t *value)
{
	uint8_t bytes[8];

	if (!read_bytes(reader, address, bytes, sizeof(bytes)))
		return false;
	*value = bytes_64(bytes);
	return true;
}

static bool read_32(struct page_reader *reader, uint64_t address, uint32_t *value)
{
	uint8_t bytes[4];

	if (!read_bytes(reader, address, bytes, sizeof(bytes)))
		return false;
	*value = bytes_32(bytes);
	return true;
}

/* ---- the list ---- */

static bool add_part(struct page_reader *reader, const struct kernel_layout *layout, uint64_t at,
	struct kernel_module *module)
{
	struct module_part *part = &module->parts[module->count];

	if (!read_64(reader, at + layout->part_base, &part->address) ||
			!read_32(reader, at + layout->part_length, &part->size))
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
	read_text(reader, at + layout->module_name, module->name, room + 1);
	for (uint32_t i = 0; i < parts; i++) {
		if (!add_part(reader, layout, at + layout->parts + (uint64_t)i * layout->part_size, module))
			return false;
	}
	if (layout->init_part && !add_part(reader, layout, at + layout->init_part, module))
		return false;
	return module->name[0] && module->count;
}

bool modules_visit(const struct kernel_layout *layout, uint64_t head, const struct memory_reader *memory,
	const struct module_visitor *visitor)
{
	struct page_reader reader = { .memory = memory };
	uint64_t next;

	if (!layout->modules || !read_64(&reader, head, &next))
		return false;
	for (unsigned i = 0; next != head && i < MODULES_MAX; i++) {
		struct kernel_module module;

		if (read_module(&reader, layout, next - layout->module_list, &module) &&
				!visitor->module(visitor->context, &module))
			return true;
		if (!read_64(&reader, next, &next))
			return false;
	}
	return next == head;
}

static bool read_code(struct page_reader *reader, const struct code_list_layout *layout, uint64_t at,
	struct module_symbol *symbol, char name[NAME_MAX_BYTES])
{
	size_t room = layout->name_size < NAME_MAX_BYTES ? layout->name_size : NAME_MAX_BYTES;
	uint64_t length;

	*symbol = (struct module_symbol) { .type = 't', .name = name };
	name[0] = '\0';
	if (!read_64(reader, at + layout->start, &symbol->address) || !read_64(reader, at + layout->length, &length))
		return false;
	symbol->size = layout->ends ? length - symbol->address : length;
	if (room)
		read_text(reader, at + layout->name, name, room);
	return symbol->size && symbol->size <= CODE_MAX && symbol->address + symbol->size > symbol->address;
}

bool code_list_visit(const struct code_list_layout *layout, uint64_t head, const struct memory_reader *memory,
	const struct module_visitor *visitor)
{
	struct page_reader reader = { .memory = memory };
	char name[NAME_MAX_BYTES];
	uint64_t next;

	if (!layout->known || !read_64(&reader, head, &next))
		return false;
	for (unsigned i = 0; next != head && i < MODULES_MAX; i++) {
		struct module_symbol symbol;

		if (read_code(&reader, layout, next - layout->list, &symbol, name) &&
				!visitor->symbol(visitor->context, &symbol))
			return true;
		if (!read_64(&reader, next, &next))
			return false;
	}
	return next == head;
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

	return read_64(&reader->rows, module->at + layout->kallsyms, &at) &&
		read_64(&reader->rows, at + layout->symbols, &reader->symbols) &&
		read_64(&reader->rows, at + layout->texts, &reader->names) &&
		read_64(&reader->rows, at + layout->types, &reader->letters) &&
		read_32(&reader->rows, at + layout->symbols_count, &reader->count) &&
		reader->count <= MODULE_SYMBOLS_MAX;
}

bool module_symbols_visit(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct memory_reader *memory, const struct module_visitor *visitor)
{
	struct symbols_reader reader = { .rows.memory = memory, .texts.memory = memory, .types.memory = memory };

	if (!layout->modules || !open_symbols(&reader, layout, module))
		return false;
	for (uint32_t i = 1; i < reader.count; i++) {
		struct module_symbol symbol = { .size = 0 };
		uint8_t row[SYMBOL];
		char name[NAME_MAX_BYTES];

		if (!read_bytes(&reader.rows, reader.symbols + (uint64_t)i * SYMBOL, row, sizeof(row)) ||
				!read_bytes(&reader.types, reader.letters + i, &symbol.type, 1))
			return false;
		symbol.address = bytes_64(row + SYMBOL_VALUE);
		symbol.size = bytes_64(row + SYMBOL_SIZE);
		if (!symbol.type || !strchr("TtWw", symbol.type) || !lies_in(module, symbol.address))
			continue;
		read_text(&reader.texts, reader.names + bytes_32(row), name, sizeof(name));
		symbol.name = name;
		if (name[0] && !visitor->symbol(visitor->context, &symbol))
			return true;
	}
	return true;
}

/* ---- ORC ---- */

static uint8_t *read_table(struct page_reader *reader, uint64_t at, size_t size, struct budget *budget)
{
	uint8_t *table = budget_resize(budget, NULL, 0, size);

	if (table && !read_bytes(reader, at, table, size)) {
		budget_free(budget, table, size);
		return NULL;
	}
	return table;
}

struct orc *module_orc(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct memory_reader *memory, enum orc_format format, struct budget *budget)
{
	struct page_reader reader = { .memory = memory };
	uint64_t ips, entries;
	struct orc *orc = NULL;
	uint32_t count;
	uint8_t *ip, *entry;

	if (!layout->orc || !read_32(&reader, module->at + layout->orc_count, &count) || !count || count > ORC_MAX ||
			!read_64(&reader, module->at + layout->orc_ips, &ips) ||
			!read_64(&reader, module->at + layout->orc_entries, &entries))
		return NULL;
	ip = read_table(&reader, ips, (size_t)count * IP, budget);
	entry = ip ? read_table(&reader, entries, (size_t)count * ENTRY, budget) : NULL;
	if (entry)
		orc = orc_new(&(struct orc_tables) {
			.ips = ip, .ips_size = (size_t)count * IP, .address = ips,
			.entries = entry, .entries_size = (size_t)count * ENTRY,
		}, format, budget);
	if (ip)
		budget_free(budget, ip, (size_t)count * IP);
	if (entry)
		budget_free(budget, entry, (size_t)count * ENTRY);
	return orc;
}
