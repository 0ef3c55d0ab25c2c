/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/stacks.h"
#include "match.h"
#include "stack_filter.h"

enum { KNOWN = 1 << CONTEXTS, STEP = 1024 };	/* KNOWN: among the bits in which somebody passes */

static void give_up(struct whos *whos)
{
	budget_give(whos->budget, whos->count);
	budget_give(whos->budget, whos->rows ? whos->count * CONTEXTS * sizeof(*whos->rows) : 0);
	free(whos->rows);
	whos->rows = NULL;
}

void whos_clear(struct whos *whos)
{
	give_up(whos);
	free(whos->passes);
	*whos = (struct whos) { .budget = whos->budget };
}

/* Charges without asking: some bytes for each number, which are bounded. */
void whos_meet(struct whos *whos, const struct who *list, uint32_t count)
{
	uint32_t room = (count + count / 4) / STEP * STEP + STEP;

	if (list != whos->list)
		whos_clear(whos);
	whos->list = list;
	if (count <= whos->count)
		return;
	give_up(whos);
	whos->passes = util_grow(whos->passes, room, 1);
	memset(whos->passes + whos->count, 0, room - whos->count);
	budget_charge(whos->budget, room);
	whos->count = room;
}

uint8_t match_ask(const struct match *match, uint32_t who)
{
	int last = match->contexts ? CONTEXTS - 1 : CONTEXT_UNTOLD;
	uint8_t passes = KNOWN;

	for (int context = CONTEXT_UNTOLD; context <= last; context++)
		passes |= (uint8_t)(filter_passes(match->filter, match->threads, &match->whos->list[who],
			(enum context)context) << context);
	match->whos->passes[who] = passes;
	return passes;
}

uint32_t match_row(const struct match_reader *reader, uint32_t who)
{
	const struct match *match = reader->match;
	struct whos *whos = match->whos;
	size_t size = (size_t)whos->count * CONTEXTS * sizeof(*whos->rows);
	uint32_t *row;

	if (whos->list[who].mode == MODE_IDLE)
		return match->idle;
	if (!whos->rows) {
		whos->rows = budget_resize(whos->budget, NULL, 0, size);
		if (!whos->rows)
			return grouping_who(match->grouping, &whos->list[who], reader->context);
		memset(whos->rows, 0xff, size);
	}
	row = &whos->rows[who * CONTEXTS + reader->context];
	if (*row == FUNCTION_NONE)
		*row = grouping_who(match->grouping, &whos->list[who], reader->context);
	return *row;
}

struct match_reader match_begin(const struct match *match, const struct run *run)
{
	struct match_reader reader = {
		.match = match, .all = !match->filter->count && !match->contexts,
	};

	if (run)
		reader.reader = run_read(run);
	if (!reader.all)
		reader.idle = stack_filter_passes_alone(match->stack_filter, match->idle);
	return reader;
}

void match_look(struct match_reader *reader, uint32_t stack)
{
	const struct match *match = reader->match;

	reader->begun = true;
	reader->stack = stack;
	reader->context = CONTEXT_UNTOLD;
	if (match->contexts && stack != STACKS_NONE)
		reader->context = (enum context)match->contexts[stack];
	reader->stack_passes = stack == STACKS_NONE ?
		stack_filter_passes_alone(match->stack_filter, match->unknown) :
		stack_filter_passes(match->stack_filter, stack);
}
