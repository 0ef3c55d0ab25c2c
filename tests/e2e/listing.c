/* SPDX-License-Identifier: MIT */
/*
 * listing FILE FUNCTIONS: prints the code of so many functions of an ELF file, or of a Linux boot image, as ktop shows
 * it: "function LOW HIGH" in hexadecimal, and for each instruction "ADDRESS SIZE FILE:LINE TEXT".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/code/listing.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/linux/linux_kernel.h"

enum { FUNCTION_MOST = 16 << 10 };	/* bytes: larger symbols stand for whole sections */

static void print(const struct listing *listing)
{
	const char *base = strrchr(listing->name, '/');

	printf("function %" PRIx64 " %" PRIx64 "\n", listing->low, listing->high);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_instruction *at = &listing->instructions[i];
		const struct listing_place *place = at->place == LISTING_NONE ? NULL : &listing->places[at->place];

		printf("%" PRIx64 " %u %s:%" PRIu32 " %s\n", at->address, at->size,
			place ? place->file : base ? base + 1 : listing->name, place ? place->line : at->line,
			at->text);
	}
}

static void print_function(const struct image *image, struct sym_dwarf *dwarf, const struct symbol *symbol)
{
	static struct code_bytes code;
	const struct code_file file = {
		.fd = image->fd, .path = image->kernel ? image->path : NULL, .then = image->file,
		.start = image->kernel ? image->kernel->start : 0,
	};
	bool full = false;
	struct code_lines *lines = dwarf ? sym_dwarf_code(dwarf, symbol->address, symbol->end, &full) : NULL;
	struct listing *listing;

	code_bytes_read(&code, &file, symbol->address, symbol->end, NULL);
	listing = listing_new(&code, symbol->address, symbol->end, lines, NULL);
	print(listing);
	listing_release(listing);
	code_lines_free(lines);
}

int main(int count, char **arguments)
{
	char *error = NULL;
	bool full = false;
	struct image *image = count == 3 ? image_load(arguments[1], IMAGE_ELF_OR_TEXT, NULL, &error) : NULL;
	struct sym_dwarf *dwarf = image && image->fd >= 0 ? sym_dwarf_new(image->fd, NULL, NULL, &full) : NULL;
	uint32_t all, functions;

	if (!image) {
		fprintf(stderr, "%s\n", error ? error : "listing FILE FUNCTIONS");
		free(error);
		return 1;
	}
	all = symbol_table_count(image->table);
	functions = (uint32_t)strtoul(arguments[2], NULL, 10);
	for (uint32_t i = 0; i < functions; i++) {
		struct symbol any = symbol_table_get(image->table, (uint32_t)((uint64_t)all * i / functions));
		struct symbol symbol = symbol_table_get(image->table, symbol_table_find(image->table, any.address));

		if (symbol.end - symbol.address <= FUNCTION_MOST)
			print_function(image, dwarf, &symbol);
	}
	sym_dwarf_free(dwarf);
	image_free(image);
	return 0;
}
