/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "jumps.h"
#include "listing.h"

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
