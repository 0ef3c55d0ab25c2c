/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/sorted.h"
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
