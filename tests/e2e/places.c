/* SPDX-License-Identifier: MIT */
/*
 * places FILE COUNT SEED: so many addresses of functions, chosen at random, and where they are in the source, as ktop's
 * views tell it: "ADDRESS NAME@FILE:LINE ...". What is inlined there comes first, the innermost one, and the function
 * itself last; each with its line at that address, or the line at which it calls the one before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"

static void print_place(const struct code_lines *lines, const char *name, uint16_t file, uint32_t line)
{
	const char *path = file == CODE_NO_FILE ? "??" : lines->files[file];
	const char *base = strrchr(path, '/');

	printf(" %s@%s:%" PRIu32, name, base ? base + 1 : path, line);
}

static const struct code_inline *inlined_at(const struct code_lines *lines, uint64_t address, uint32_t depth)
{
	for (size_t i = 0; i < lines->inline_count; i++) {
		const struct code_inline *one = &lines->inlines[i];

		if (one->depth == depth && one->low <= address && address < one->high)
			return one;
	}
	return NULL;
}

static void print_places(const struct code_lines *lines, uint64_t address, const char *function)
{
	struct code_row at = { .file = CODE_NO_FILE };
	uint32_t depth = 0;

	for (size_t i = 0; i < lines->row_count && lines->rows[i].address <= address; i++)
		at = lines->rows[i];
	while (inlined_at(lines, address, depth))
		depth++;
	while (depth-- > 0) {
		const struct code_inline *inlined = inlined_at(lines, address, depth);

		print_place(lines, inlined->name, at.file, at.line);
		at.file = inlined->call_file;
		at.line = inlined->call_line;
	}
	print_place(lines, function, at.file, at.line);
}

static void print_one(const struct image *image, struct sym_dwarf *dwarf)
{
	struct symbol any = symbol_table_get(image->table, (uint32_t)random() % symbol_table_count(image->table));
	struct symbol symbol = symbol_table_get(image->table, symbol_table_find(image->table, any.address));
	uint64_t address = symbol.address + (uint64_t)random() % (symbol.end - symbol.address);
	bool full = false;
	struct code_lines *lines = sym_dwarf_code(dwarf, symbol.address, symbol.end, &full);

	printf("%" PRIx64, address);
	if (lines)
		print_places(lines, address, symbol.name);
	putchar('\n');
	code_lines_free(lines);
}

int main(int count, char **arguments)
{
	char *error = NULL;
	bool full = false;
	struct image *image = count == 4 ? image_load(arguments[1], IMAGE_ELF_OR_TEXT, NULL, &error) : NULL;
	struct sym_dwarf *dwarf = image && image->fd >= 0 ? sym_dwarf_new(image->fd, NULL, NULL, &full) : NULL;

	if (!dwarf) {
		fprintf(stderr, "%s\n", error ? error : "places FILE COUNT SEED; the file needs DWARF");
		free(error);
		image_free(image);
		return 1;
	}
	srandom((unsigned)strtoul(arguments[3], NULL, 10));
	for (unsigned long i = strtoul(arguments[2], NULL, 10); i > 0; i--)
		print_one(image, dwarf);
	sym_dwarf_free(dwarf);
	image_free(image);
	return 0;
}
