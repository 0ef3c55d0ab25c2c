/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/function.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "disassembler.h"
#include "listing.h"

struct listing *listing_hold(struct listing *listing)
{
	if (listing)
		atomic_fetch_add_explicit(&listing->holders, 1, memory_order_relaxed);
	return listing;
}

static void listing_free(struct listing *listing)
{
	for (uint32_t i = 0; listing->lines && i < listing->line_count; i++)
		free(listing->lines[i]);
	for (size_t i = 0; i < listing->place_count; i++) {
		free(listing->places[i].function);
		free(listing->places[i].file);
	}
	free(listing->lines);
	free(listing->places);
	free(listing->instructions);
	free(listing->texts);
	free(listing->callees);
	free(listing->file);
	free(listing->name);
	free(listing);
}

void listing_release(struct listing *listing)
{
	if (listing && atomic_fetch_sub_explicit(&listing->holders, 1, memory_order_acq_rel) == 1)
		listing_free(listing);
}

uint32_t listing_find(const struct listing *listing, uint64_t address)
{
	size_t behind = sorted_upto(listing->instructions, listing->count, sizeof(struct listing_instruction),
		offsetof(struct listing_instruction, address), address);
	const struct listing_instruction *last = behind ? &listing->instructions[behind - 1] : NULL;

	return last && address - last->address < last->size ? (uint32_t)behind - 1 : LISTING_NONE;
}

const char *listing_line(const struct listing *listing, uint32_t line)
{
	if (!listing->lines || line < listing->first || line - listing->first >= listing->line_count)
		return NULL;
	return listing->lines[line - listing->first];
}

bool listing_stands_in(const struct listing *listing, const struct listing_instruction *instruction, const char *line)
{
	const struct listing_place *place = instruction->place == LISTING_NONE ? NULL :
		&listing->places[instruction->place];
	const char *file = place ? place->file : listing->name, *number = strrchr(line, ':');
	size_t size = strlen(file), from;

	if (!number || (size_t)(number - line) < size)
		return false;
	from = (size_t)(number - line) - size;
	return memcmp(line + from, file, size) == 0 && (from == 0 || line[from - 1] == '/') &&
		strtoul(number + 1, NULL, 10) == (place ? place->line : instruction->line);
}

/* ---- a listing is made ---- */

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

/* ---- its rows ---- */

enum { SKIPPED_MOST = 24 };		/* source lines without code that are shown before one with code */

struct rows {
	const struct listing *listing;
	struct listing_row *rows;
	size_t count, room;
	uint32_t shown;			/* the last source line that was reached, from above */
};

static void add(struct rows *rows, struct listing_row row)
{
	if (rows->count == rows->room) {
		rows->room = 2 * rows->room + 64;
		rows->rows = util_grow(rows->rows, rows->room, sizeof(*rows->rows));
	}
	rows->rows[rows->count++] = row;
}

static struct listing_row instruction_row(uint32_t index)
{
	return (struct listing_row) { .place = LISTING_NONE, .first = index, .end = index + 1 };
}

static const char *inlined_in(const struct listing *listing, uint32_t place)
{
	return place == LISTING_NONE ? "" : listing->places[place].function;
}

/* Do two instructions stand in the same line, with the same function inlined there? */
static bool together(const struct listing *listing, uint32_t a, uint32_t b)
{
	const struct listing_instruction *one = &listing->instructions[a], *other = &listing->instructions[b];

	if (one->line != other->line)
		return false;
	if (!one->line && (one->place == LISTING_NONE) == (other->place == LISTING_NONE))
		return one->place == other->place || (one->place != LISTING_NONE &&
			listing->places[one->place].line == listing->places[other->place].line);
	return strcmp(inlined_in(listing, one->place), inlined_in(listing, other->place)) == 0;
}

/* The lines between the last one that was shown and this one, which have no code. */
static void add_skipped(struct rows *rows, uint32_t line)
{
	uint32_t from = rows->shown ? rows->shown + 1 : rows->listing->first;

	if (line < from)
		return;
	for (uint32_t at = from; at < line && line - from <= SKIPPED_MOST && listing_line(rows->listing, at); at++)
		add(rows, (struct listing_row) { .source = true, .line = at, .place = LISTING_NONE });
	rows->shown = line;
}

static void fill_both(struct rows *rows)
{
	const struct listing *listing = rows->listing;

	for (uint32_t i = 0, end; i < listing->count; i = end) {
		const struct listing_instruction *first = &listing->instructions[i];

		for (end = i + 1; end < listing->count && together(listing, i, end); end++)
			continue;
		if (first->line)
			add_skipped(rows, first->line);
		if (first->line || first->place != LISTING_NONE)
			add(rows, (struct listing_row) {
				.source = true, .line = first->line, .place = first->place, .first = i, .end = end });
		for (uint32_t k = i; k < end; k++)
			add(rows, instruction_row(k));
	}
}

/* What is inlined in each line: that of its first instruction which has anything. */
static void add_lines(struct rows *rows)
{
	const struct listing *listing = rows->listing;
	uint32_t *places = util_alloc(listing->line_count * sizeof(*places));

	memset(places, 0xff, listing->line_count * sizeof(*places));
	for (size_t i = 0; i < listing->count; i++) {
		uint32_t at = listing->instructions[i].line - listing->first;

		if (listing->instructions[i].line >= listing->first && at < listing->line_count &&
				places[at] == LISTING_NONE && *inlined_in(listing, listing->instructions[i].place))
			places[at] = listing->instructions[i].place;
	}
	for (uint32_t i = 0; i < listing->line_count; i++)
		add(rows, (struct listing_row) {
			.source = true, .line = listing->first + i, .place = places[i], .whole = true });
	free(places);
}

/* Behind the lines comes the code that stands in none of them. */
static void fill_source(struct rows *rows)
{
	const struct listing *listing = rows->listing;

	add_lines(rows);
	for (uint32_t i = 0, end; i < listing->count; i = end) {
		const struct listing_instruction *first = &listing->instructions[i];
		uint32_t line = first->line;

		for (end = i + 1; end < listing->count && together(listing, i, end); end++)
			continue;
		if (line < listing->first || line - listing->first >= listing->line_count)
			add(rows, (struct listing_row) {
				.source = true, .line = line, .place = first->place, .first = i, .end = end });
	}
}

struct listing_row *listing_rows(const struct listing *listing, enum listing_form form, size_t *count)
{
	struct rows rows = { .listing = listing };

	if (listing->first && listing->line_count && (form == LISTING_SOURCE || !listing->count))
		fill_source(&rows);
	else if (form == LISTING_BOTH)
		fill_both(&rows);
	else
		for (uint32_t i = 0; i < listing->count; i++)
			add(&rows, instruction_row(i));
	*count = rows.count;
	return rows.rows;
}

uint64_t listing_row_key(const struct listing *listing, const struct listing_row *row)
{
	if (!row->source)
		return listing->instructions[row->first].address << 1;
	if (row->end == row->first)
		return (uint64_t)row->line << 1 | 1 | UINT64_C(1) << 63;
	return listing->instructions[row->first].address << 1 | 1;
}

/* ---- jumps ---- */

struct jump {
	uint32_t from, to;
};

static uint32_t span_of(const struct jump *jump)
{
	return jump->from < jump->to ? jump->to - jump->from : jump->from - jump->to;
}

static int shorter(const void *left, const void *right)
{
	const struct jump *a = left, *b = right;

	if (span_of(a) != span_of(b))
		return span_of(a) < span_of(b) ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int is_free(const struct jumps *jumps, unsigned lane, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		if (jumps->cells[i][lane])
			return 0;
	return 1;
}

static void draw(struct jumps *jumps, const struct jump *jump)
{
	uint32_t first = jump->from < jump->to ? jump->from : jump->to, last = first + span_of(jump);
	unsigned lane = 0;

	while (lane < JUMP_LANES && !is_free(jumps, lane, first, last))
		lane++;
	if (lane == JUMP_LANES)
		return;
	for (uint32_t i = first; i <= last; i++)
		jumps->cells[i][lane] = (uint8_t)((i > first ? JUMP_ABOVE : 0) | (i < last ? JUMP_BELOW : 0));
	jumps->cells[jump->from][lane] |= JUMP_FROM;
	jumps->cells[jump->to][lane] |= JUMP_TO;
	if (lane + 1 > jumps->lanes)
		jumps->lanes = lane + 1;
}

struct jumps jumps_new(const struct listing *listing)
{
	struct jumps jumps = { .cells = util_alloc(listing->count * sizeof(*jumps.cells)) };
	struct jump *list = util_alloc(listing->count * sizeof(*list));
	size_t count = 0;

	for (uint32_t i = 0; i < listing->count; i++)
		if (listing->instructions[i].target != LISTING_NONE)
			list[count++] = (struct jump) { i, listing->instructions[i].target };
	if (count)
		qsort(list, count, sizeof(*list), shorter);
	for (size_t i = 0; i < count; i++)
		draw(&jumps, &list[i]);
	free(list);
	return jumps;
}

void jumps_clear(struct jumps *jumps)
{
	free(jumps->cells);
	*jumps = (struct jumps) { .lanes = 0 };
}

static char sign_of(uint8_t cell, int between)
{
	if (between)
		return cell & JUMP_ABOVE ? '|' : ' ';
	if (cell & (JUMP_FROM | JUMP_TO))
		return cell & JUMP_BELOW ? cell & JUMP_ABOVE ? '+' : ',' : cell & JUMP_ABOVE ? '\'' : '-';
	return cell ? '|' : ' ';
}

/* From the leftmost lane on which a jump begins or arrives, a line leads to the instruction. */
char *jumps_text(const struct jumps *jumps, size_t instruction, int between, char text[JUMPS_TEXT])
{
	char *at = text, line = ' ', head = ' ';

	for (unsigned lane = jumps->lanes; lane-- > 0;) {
		uint8_t cell = jumps->cells[instruction][lane];
		char sign = sign_of(cell, between);

		*at++ = sign == ' ' ? line : sign;
		if (!between && cell & (JUMP_FROM | JUMP_TO)) {
			line = '-';
			head = cell & JUMP_TO || head == '>' ? '>' : '-';
		}
		*at++ = line;
	}
	if (jumps->lanes && head != ' ')
		at[-1] = head;
	*at = '\0';
	return text;
}

/* ---- source file ---- */

enum {
	FILE_MOST = 16 << 20,		/* bytes of a file that are read; no source is longer */
	LINE_MOST = 512,		/* bytes of a line that are kept */
	TAB = 8,
};

/* The path on this host, in fresh memory. */
static char *path_here(const char *path, const char *map)
{
	const char *to = map ? strchr(map, '=') : NULL;

	if (to && strncmp(path, map, (size_t)(to - map)) == 0)
		return util_format("%s%s", to + 1, path + (to - map));
	return util_copy(path, strlen(path));
}

static char *without_tabs(const char *text, size_t size)
{
	char line[LINE_MOST];
	size_t used = 0;

	for (size_t i = 0; i < size && used < sizeof(line); i++) {
		line[used++] = text[i] == '\t' ? ' ' : text[i];
		while (text[i] == '\t' && used % TAB && used < sizeof(line))
			line[used++] = ' ';
	}
	while (used && (line[used - 1] == ' ' || line[used - 1] == '\r'))
		used--;
	return util_printable(line, used);
}

static FILE *open_file(const char *path, const char *map)
{
	char *here = path_here(path, map);
	int fd = util_file_read(AT_FDCWD, here, 0, NULL);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	free(here);
	return file;
}

size_t source_file_read(const char *path, const char *map, uint32_t first, size_t count, char **lines)
{
	FILE *file = open_file(path, map);
	size_t got = 0, done = 0, used = 0;
	char text[LINE_MOST];
	uint32_t number = 1;
	int c;

	memset(lines, 0, count * sizeof(*lines));
	if (!file)
		return 0;
	while (got < count && done++ < FILE_MOST && ((c = getc(file)) != EOF || used)) {
		if (c != '\n' && c != EOF) {
			if (used < sizeof(text))
				text[used++] = (char)c;
			continue;
		}
		if (number >= first)
			lines[got++] = without_tabs(text, used);
		number++;
		used = 0;
		if (c == EOF)
			break;
	}
	fclose(file);
	return got;
}

/* ---- code bytes ---- */

static void take_part(struct code_bytes *code, const struct unpacked *image, const struct code_file *file,
	uint64_t low, size_t size)
{
	struct kernel_bytes kernel;
	const uint8_t *bytes;

	if (!kernel_bytes_set(&kernel, image->bytes, image->size))
		return;
	if (!kernel.elf)
		kernel_bytes_place(&kernel, file->start);
	bytes = kernel_bytes_at(&kernel, low, size);
	if (!bytes)
		return;
	memcpy(code->bytes, bytes, size);
	code->size = size;
	code->arch = kernel.arch;
}

/* The image is unpacked anew each time: keeping it would take more memory than all else. */
static void read_image(struct code_bytes *code, const struct code_file *file, uint64_t low, size_t size,
	struct budget *budget)
{
	struct unpacked image;
	char *error = NULL;
	int fd = image_is_current(file->path, &file->then) ? util_file_read(AT_FDCWD, file->path, 0, NULL) : -1;

	if (fd < 0)
		return;
	if (boot_image_is(fd) && boot_image_read(fd, file->path, budget, &image, &error)) {
		take_part(code, &image, file, low, size);
		unpack_free(&image, budget);
	}
	free(error);
	close(fd);
}

void code_bytes_read(struct code_bytes *code, const struct code_file *file, uint64_t low, uint64_t high,
	struct budget *budget)
{
	size_t size = high - low < CODE_BYTES_MAX ? (size_t)(high - low) : CODE_BYTES_MAX;
	struct sym_elf_code *elf;

	code->size = 0;
	if (high <= low)
		return;
	if (file->fd < 0) {
		if (file->path)
			read_image(code, file, low, size, budget);
		return;
	}
	elf = sym_elf_code_read(file->fd, budget);
	code->arch = elf ? elf->arch : ARCH_OTHER;
	code->size = sym_elf_code_bytes(elf, file->fd, low, code->bytes, size);
	sym_elf_code_free(elf);
}

/* ---- functions by name ---- */

void named_functions_find(struct named_functions *named, const struct symbols *symbols, uint64_t name,
	const char *kernel)
{
	size_t all = symbols_functions(symbols);

	if (named->name != name || strcmp(named->kernel, kernel) != 0) {
		*named = (struct named_functions) { .name = name };
		snprintf(named->kernel, sizeof(named->kernel), "%s", kernel);
	}
	for (; named->looked_at < all && named->count < NAMED_FUNCTIONS_MAX; named->looked_at++) {
		const struct function *function = symbols_get(symbols, (uint32_t)named->looked_at);

		if (function->known && tree_name(function, kernel) == name)
			named->functions[named->count++] = (uint32_t)named->looked_at;
	}
}
