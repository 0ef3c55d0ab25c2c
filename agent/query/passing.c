/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/stacks.h"
#include "passing.h"
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

uint8_t passing_ask(const struct passing *passing, uint32_t who)
{
	int last = passing->contexts ? CONTEXTS - 1 : CONTEXT_UNTOLD;
	uint8_t passes = KNOWN;

	for (int context = CONTEXT_UNTOLD; context <= last; context++)
		passes |= (uint8_t)(filter_passes(passing->filter, passing->threads, &passing->whos->list[who],
			(enum context)context) << context);
	passing->whos->passes[who] = passes;
	return passes;
}

uint32_t passing_row(const struct passing_reader *reader, uint32_t who)
{
	const struct passing *passing = reader->passing;
	struct whos *whos = passing->whos;
	size_t size = (size_t)whos->count * CONTEXTS * sizeof(*whos->rows);
	uint32_t *row;

	if (whos->list[who].mode == MODE_IDLE)
		return passing->idle;
	if (!whos->rows) {
		whos->rows = budget_resize(whos->budget, NULL, 0, size);
		if (!whos->rows)
			return grouping_who(passing->grouping, &whos->list[who], reader->context);
		memset(whos->rows, 0xff, size);
	}
	row = &whos->rows[who * CONTEXTS + reader->context];
	if (*row == FUNCTION_NONE)
		*row = grouping_who(passing->grouping, &whos->list[who], reader->context);
	return *row;
}

struct passing_reader passing_begin(const struct passing *passing, const struct run *run)
{
	struct passing_reader reader = {
		.passing = passing, .all = !passing->filter->count && !passing->contexts,
	};

	if (run)
		reader.reader = run_read(run);
	if (!reader.all)
		reader.idle = stack_filter_passes_alone(passing->stack_filter, passing->idle);
	return reader;
}

void passing_look(struct passing_reader *reader, uint32_t stack)
{
	const struct passing *passing = reader->passing;

	reader->begun = true;
	reader->stack = stack;
	reader->context = CONTEXT_UNTOLD;
	if (passing->contexts && stack != STACKS_NONE)
		reader->context = (enum context)passing->contexts[stack];
	reader->stack_passes = stack == STACKS_NONE ?
		stack_filter_passes_alone(passing->stack_filter, passing->unknown) :
		stack_filter_passes(passing->stack_filter, stack);
}
