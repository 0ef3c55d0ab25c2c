/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/store/stacks.h"
#include "passing.h"
#include "stack_filter.h"

/* The contexts of a stack in which who ran it passes, as bits. Threads are only asked for once if that is enough. */
static uint8_t passes_in(const struct passing *passing, const struct who *who)
{
	int last = passing->contexts ? CONTEXTS - 1 : CONTEXT_UNTOLD;
	uint8_t passes = 0;

	for (int context = CONTEXT_UNTOLD; context <= last; context++)
		passes |= (uint8_t)(filter_passes(passing->filter, passing->threads, who, (enum context)context) <<
			context);
	return passes;
}

void passing_begin(struct passing_reader *reader, const struct passing *passing, const struct run *run)
{
	*reader = (struct passing_reader) {
		.passing = passing, .reader = run_read(run),
		.whos = util_grow(NULL, run->who_count, sizeof(*reader->whos)),
		.idle = stack_filter_passes(passing->stack_filter, passing->functions, STACKS_NONE, passing->idle),
	};
	for (uint32_t i = 0; i < run->who_count; i++)
		reader->whos[i] = passes_in(passing, &run->who[i]);
}

void passing_end(struct passing_reader *reader)
{
	free(reader->whos);
}

/* A stack that does not pass was looked at, too: it may pass once its functions have other names. */
void passing_look(struct passing_reader *reader, uint32_t stack)
{
	const struct passing *passing = reader->passing;

	reader->begun = true;
	reader->stack = stack;
	reader->stack_passes = true;
	reader->context = CONTEXT_UNTOLD;
	if (!passing->contexts && stack_filter_is_empty(passing->stack_filter))
		return;
	if (stack != STACKS_NONE && stack > reader->newest)
		reader->newest = stack;
	if (passing->contexts && stack != STACKS_NONE)
		reader->context = (enum context)passing->contexts[stack];
	reader->stack_passes = stack_filter_passes(passing->stack_filter, passing->functions, stack, passing->unknown);
}
