/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "agent/names/dwarf/code_lines.h"
#include "agent/names/files/symbol_table.h"
#include "code_bytes.h"
#include "disassembler.h"
#include "instruction.h"
#include "listing.h"
#include "source_file.h"

enum { DEPTH_MAX = 64 };		/* functions that are inlined in each other */

/* ---- instructions ---- */

static void add_instruction(struct listing *listing, const struct instruction *instruction, uint64_t address,
	FILE *texts)
{
	struct listing_instruction *to;

	if ((listing->count & (listing->count - 1)) == 0)
		listing->instructions = util_grow(listing->instructions, 2 * listing->count + 1,
			sizeof(*listing->instructions));
	to = &listing->instructions[listing->count++];
	*to = (struct listing_instruction) {
		.address = address, .size = instruction->size, .target = LISTING_NONE, .place = LISTING_NONE,
		.goes = instruction->kind == INSTRUCTION_PLAIN ? 0 : instruction->target,
	};
	fwrite(instruction->text, 1, strlen(instruction->text) + 1, texts);
}

static void disassemble(struct listing *listing, const struct code_bytes *code)
{
	struct disassembler *disassembler = disassembler_new(code->arch);
	struct instruction instruction;
	size_t size, done = 0;
	const char *text;
	FILE *texts;

	if (!disassembler)
		return;
	listing->worded = disassembler_lacks(disassembler);
	texts = util_text_open(&listing->texts, &size);
	while (done < code->size) {
		disassembler_next(disassembler, code->bytes + done, code->size - done, listing->low + done,
			&instruction);
		add_instruction(listing, &instruction, listing->low + done, texts);
		done += instruction.size;
	}
	listing->texts = util_text_close(texts, &listing->texts);
	text = listing->texts;
	for (size_t i = 0; i < listing->count; i++, text += strlen(text) + 1)
		listing->instructions[i].text = text;
	disassembler_free(disassembler);
}

/* A jump into the function leads to one of its instructions. */
static void find_targets(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		struct listing_instruction *from = &listing->instructions[i];
		uint32_t to = from->goes ? listing_find(listing, from->goes) : LISTING_NONE;

		if (to != LISTING_NONE && listing->instructions[to].address == from->goes && to != 0)
			from->target = to;
	}
}

/* ---- which lines they belong to ---- */

struct chain {				/* what is inlined at an address, by depth; NULL: nothing */
	const struct code_inline *at[DEPTH_MAX];
	uint32_t depth;
};

static struct chain chain_at(const struct code_lines *lines, uint64_t address)
{
	struct chain chain = { .depth = 0 };

	for (size_t i = 0; i < lines->inline_count; i++) {
		const struct code_inline *piece = &lines->inlines[i];

		if (address < piece->low || address >= piece->high || piece->depth >= DEPTH_MAX)
			continue;
		chain.at[piece->depth] = piece;
		if (piece->depth + 1 > chain.depth)
			chain.depth = piece->depth + 1;
	}
	return chain;
}

static const struct code_row *row_at(const struct code_lines *lines, uint64_t address)
{
	size_t behind = sorted_upto(lines->rows, lines->row_count, sizeof(struct code_row),
		offsetof(struct code_row, address), address);

	return behind ? &lines->rows[behind - 1] : NULL;
}

static const char *path_of(const struct code_lines *lines, uint16_t file)
{
	return file < lines->file_count ? lines->files[file] : "";
}

static const char *last_parts(const char *path, int parts)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --parts > 0))
		at--;
	return at;
}

static char *printable(const char *text)
{
	return util_printable(text, strlen(text));
}

/* The place of what is inlined, or of a line of another file; the same as the last one, if it is equal. */
static uint32_t have_place(struct listing *listing, const char *function, const char *path, uint32_t line)
{
	struct listing_place place = {
		.function = *function ? demangle_shown(function) : util_copy("", 0),
		.file = printable(last_parts(path, 1)), .line = line,
	};
	struct listing_place *last = listing->place_count ? &listing->places[listing->place_count - 1] : NULL;

	if (last && last->line == line && strcmp(last->function, place.function) == 0 &&
			strcmp(last->file, place.file) == 0) {
		free(place.function);
		free(place.file);
		return (uint32_t)listing->place_count - 1;
	}
	listing->places = util_grow(listing->places, listing->place_count + 1, sizeof(*listing->places));
	listing->places[listing->place_count] = place;
	return (uint32_t)listing->place_count++;
}

/* The line in the function's own file: that of the outermost call, if the code is inlined. */
static void place_instruction(struct listing *listing, struct listing_instruction *instruction,
	const struct code_lines *lines, uint16_t own)
{
	const struct code_row *row = row_at(lines, instruction->address);
	struct chain chain = chain_at(lines, instruction->address);
	const struct code_inline *outer = chain.depth ? chain.at[0] : NULL;
	const struct code_inline *inner = chain.depth ? chain.at[chain.depth - 1] : NULL;
	uint16_t file = outer ? outer->call_file : row ? row->file : CODE_NO_FILE;

	if (file == own && file != CODE_NO_FILE)
		instruction->line = outer ? outer->call_line : row->line;
	if (inner)
		instruction->place = have_place(listing, inner->name, row ? path_of(lines, row->file) : "",
			row ? row->line : 0);
	else if (row && row->line && row->file != own)
		instruction->place = have_place(listing, "", path_of(lines, row->file), row->line);
}

static void place_all(struct listing *listing, const struct code_lines *lines)
{
	uint16_t own = code_lines_own(lines);

	listing->file = printable(path_of(lines, own));
	listing->name = printable(last_parts(path_of(lines, own), 2));
	for (size_t i = 0; i < listing->count; i++)
		place_instruction(listing, &listing->instructions[i], lines, own);
}

/* ---- source lines ---- */

/* From the function's head to its last line. A line before the head is not the function's. */
static void find_range(struct listing *listing, const struct code_lines *lines)
{
	uint32_t first = lines->file == CODE_NO_FILE ? 0 : lines->line, last = first;

	for (size_t i = 0; i < listing->count; i++) {
		uint32_t line = listing->instructions[i].line;

		if (line && (!first || (line < first && !lines->line)))
			first = line;
		if (line > last)
			last = line;
	}
	listing->first = first;
	listing->line_count = first && last - first < LISTING_LINES_MAX ? last - first + 1 : 0;
}

static bool read_lines(struct listing *listing, const char *path, const char *map)
{
	listing->sourced = source_file_read(path, map, listing->first, listing->line_count, listing->lines) > 0;
	return listing->sourced;
}

/* The part of a path below a folder; NULL: it is elsewhere. */
static const char *below(const char *path, const char *folder)
{
	size_t size = folder ? strlen(folder) : 0;

	return size && strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : NULL;
}

/* The file is where it was compiled; or ktop runs in a copy of that folder; or a server has sent it. */
static void read_source(struct listing *listing, const struct code_lines *lines, const char *map)
{
	uint16_t own = code_lines_own(lines);
	const char *path = path_of(lines, own), *here = below(path, lines->folder);

	find_range(listing, lines);
	if (!listing->line_count || own == CODE_NO_FILE)
		return;
	listing->lines = util_alloc(listing->line_count * sizeof(*listing->lines));
	if (!read_lines(listing, path, map) && !(here && read_lines(listing, here, NULL)) && lines->fetched)
		read_lines(listing, lines->fetched, NULL);
}

struct listing *listing_new(const struct code_bytes *code, uint64_t low, uint64_t high, const struct code_lines *lines,
	const char *map)
{
	struct listing *listing = util_alloc(sizeof(*listing));

	atomic_init(&listing->holders, 1);
	listing->low = low;
	listing->high = high;
	if (code->size)
		disassemble(listing, code);
	find_targets(listing);
	if (lines) {
		place_all(listing, lines);
		read_source(listing, lines, map);
	} else {
		listing->file = util_copy("", 0);
		listing->name = util_copy("", 0);
	}
	return listing;
}
