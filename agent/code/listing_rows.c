/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "listing.h"
#include "listing_rows.h"

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
