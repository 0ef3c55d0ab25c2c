/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/stacks.h"
#include "passing.h"
#include "stack_filter.h"

enum { FACTS = 4096, CONTEXTS_ALL = (1 << CONTEXTS) - 1 };

struct who_facts {
	struct who who;
	bool filtered;			/* `passes` is set: */
	uint8_t passes;			/* bits 1 << context in which it passes */
	uint8_t grouped;		/* bits 1 << context in which `rows` is set */
	uint32_t rows[CONTEXTS];
};

void whos_clear(struct whos *whos)
{
	free(whos->facts);
	whos->facts = NULL;
}

/* Its place, emptied if another one had it. */
static struct who_facts *facts_of(struct whos *whos, const struct who *who)
{
	uint64_t task = (uint64_t)who->process << 32 | who->thread;
	uint64_t rest = (uint64_t)who->cpu << 16 | (uint64_t)who->mode << 8 | who->context;
	struct who_facts *facts;

	if (!whos->facts)
		whos->facts = util_alloc(FACTS * sizeof(*whos->facts));
	facts = &whos->facts[hash_mix(task ^ UINT64_C(0x9e3779b97f4a7c15), rest + 1) % FACTS];
	if (who_compare(&facts->who, who) != 0)
		*facts = (struct who_facts) { .who = *who };
	return facts;
}

/* The contexts of a stack in which who ran it passes, as bits. Threads are only asked for once if that is enough. */
static uint8_t passes_in(const struct passing *passing, const struct who *who)
{
	int last = passing->contexts ? CONTEXTS - 1 : CONTEXT_UNTOLD;
	struct who_facts *facts;

	if (!passing->filter->count)
		return CONTEXTS_ALL;
	facts = facts_of(passing->whos, who);
	for (int context = CONTEXT_UNTOLD; !facts->filtered && context <= last; context++)
		facts->passes |= (uint8_t)(filter_passes(passing->filter, passing->threads, who,
			(enum context)context) << context);
	facts->filtered = true;
	return facts->passes;
}

static uint32_t row_of(const struct passing *passing, const struct who *who, enum context context)
{
	struct who key = *who;
	struct who_facts *facts;

	if (who->mode == MODE_IDLE)
		return passing->idle;
	if (grouping_has_threads(passing->grouping->by)) {	/* then only the task decides */
		key = (struct who) { .process = who->process, .thread = who->thread };
		context = CONTEXT_UNTOLD;
	}
	facts = facts_of(passing->whos, &key);
	if (!(facts->grouped >> context & 1))
		facts->rows[context] = grouping_who(passing->grouping, who, context);
	facts->grouped |= (uint8_t)(1 << context);
	return facts->rows[context];
}

uint32_t passing_row(struct passing_reader *reader, uint32_t who)
{
	const struct run *run = reader->reader.run;
	size_t size = (size_t)run->who_count * CONTEXTS * sizeof(*reader->rows);
	uint32_t *row;

	if (!reader->rows)
		reader->rows = memset(util_grow(NULL, 1, size), 0xff, size);
	row = &reader->rows[who * CONTEXTS + reader->context];
	if (*row == FUNCTION_NONE)
		*row = row_of(reader->passing, &run->who[who], reader->context);
	return *row;
}

void passing_begin(struct passing_reader *reader, const struct passing *passing, const struct run *run)
{
	*reader = (struct passing_reader) {
		.passing = passing, .reader = run_read(run), .all = !passing->filter->count && !passing->contexts,
	};
	if (reader->all)
		return;
	reader->idle = stack_filter_passes_alone(passing->stack_filter, passing->idle);
	reader->whos = util_grow(NULL, run->who_count, sizeof(*reader->whos));
	for (uint32_t i = 0; i < run->who_count; i++)
		reader->whos[i] = passes_in(passing, &run->who[i]);
}

void passing_end(struct passing_reader *reader)
{
	free(reader->whos);
	free(reader->rows);
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
