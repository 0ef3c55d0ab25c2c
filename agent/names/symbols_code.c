/* SPDX-License-Identifier: MIT */
/* The code of functions: where it is, which file it is of, and its source lines. */
#include "agent/names/dwarf/code_lines.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/objects/objects.h"
#include "agent/wire/event.h"
#include "guest_symbols.h"
#include "kernel_image.h"
#include "lines.h"
#include "symbols_state.h"

/* What a file's symbol says. False: the file has none at that link address. */
static bool find_symbol(const struct image *image, uint64_t link, uint64_t bias, struct symbol_code *code)
{
	uint32_t index = symbol_table_find(image->table, link);
	struct symbol symbol;

	if (index == SYMBOL_NONE)
		return false;
	symbol = symbol_table_get(image->table, index);
	*code = (struct symbol_code) {
		.low = symbol.address, .high = symbol.end, .bias = bias, .fd = image->fd, .path = image->path,
		.file = &image->file, .kernel = image->kernel,
	};
	return true;
}

static bool find_told(struct symbols *symbols, uint64_t address, uint64_t bias, struct symbol_code *code)
{
	const struct guest_symbol *symbol = guest_symbols_find(symbols->told, address);

	if (symbol)
		*code = (struct symbol_code) {
			.low = symbol->address - bias, .high = symbol->end - bias, .bias = bias, .fd = -1,
		};
	return symbol;
}

/* In the order in which symbols_function looks. */
static bool find(struct symbols *symbols, uint32_t space, uint64_t address, struct symbol_code *code)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);
	const struct image *image = mapping ? objects_image(mapping) : NULL;
	uint64_t slide = kernel_image_slide(symbols->kernel);

	if (space == EVENT_KERNEL && !image) {
		if (kernel_image_is_placed(symbols->kernel) && find_symbol(kernel_image_file(symbols->kernel),
				address - slide, slide, code))
			return true;
		if (find_told(symbols, address, mapping ? objects_bias(mapping) : slide, code))
			return true;
	}
	return image && find_symbol(image, address - objects_bias(mapping), objects_bias(mapping), code);
}

bool symbols_code(struct symbols *symbols, uint32_t space, uint64_t address, struct symbol_code *code)
{
	if (!find(symbols, space, address, code))
		return false;
	code->debug = symbols_debug_of(symbols, symbols_function(symbols, space, address));
	return true;
}

bool symbols_code_lines(struct symbols *symbols, const struct symbol_code *code, struct code_lines **lines, bool *more)
{
	enum lines_state state;

	*lines = NULL;
	*more = false;
	if (!code->debug)
		return true;
	state = lines_code(symbols->lines, code->debug, code->low, code->high, lines);
	*more = state == LINES_LATER;
	return state != LINES_COMING;
}

/* ---- which file is mapped at an address ---- */

/* The offset in the file of the byte that is linked at this address. */
static uint64_t offset_of(const struct elf_segments *segments, uint64_t link)
{
	for (uint32_t i = 0; i < segments->count; i++)
		if (link - segments->list[i].address < segments->list[i].size)
			return segments->list[i].offset + (link - segments->list[i].address);
	return link;
}

static void tell_image(const struct image *image, uint64_t bias, struct symbols_mapping *mapping)
{
	mapping->path = image->path ? image->path : "";
	if (!build_id_known(&mapping->build_id))
		mapping->build_id = image->build_id;
	mapping->offset = offset_of(&image->segments, mapping->start - bias);
}

/* The kernel is where its functions are. */
static void tell_kernel(struct symbols *symbols, struct symbols_mapping *mapping)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	const struct debug_object *debug = kernel_image_debug(symbols->kernel);
	uint64_t slide = kernel_image_slide(symbols->kernel);
	uint32_t count = file && kernel_image_is_placed(symbols->kernel) ? symbol_table_count(file->table) : 0;

	*mapping = (struct symbols_mapping) { .name = "kernel", .path = "" };
	if (debug)
		mapping->build_id = debug->build_id;
	if (!count)
		return;
	mapping->start = symbol_table_get(file->table, 0).address + slide;
	mapping->end = symbol_table_get(file->table, count - 1).end + slide;
	tell_image(file, slide, mapping);
}

bool symbols_mapping(struct symbols *symbols, uint32_t space, uint64_t address, struct symbols_mapping *mapping)
{
	const struct mapping *found = layouts_find(symbols->layouts, space, address);

	if (!found && space != EVENT_KERNEL)
		return false;
	if (!found) {
		tell_kernel(symbols, mapping);
		return true;
	}
	*mapping = (struct symbols_mapping) {
		.name = found->name, .path = "", .build_id = found->build_id, .start = found->start, .end = found->end,
	};
	mapping->offset = found->start - found->bias;
	if (objects_image(found))
		tell_image(objects_image(found), objects_bias(found), mapping);
	return true;
}
