/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/store/store.h"
#include "match.h"
#include "query_state.h"
#include "series.h"

/* ---- what a line or a map is of ---- */

/*
 * Takes filter and function of a new question. What was summed up under the last one is dropped if names, filter or
 * function are others.
 */
static void subject_follow(struct query_reader *reader, const struct question *question, uint64_t of)
{
	static const struct filter everything = { .count = 0 };
	struct window *window = &reader->window;
	struct subject *subject = &reader->subject;
	struct stack_filter *holders = &subject->holders;
	bool plain = of == 0 && filter_same(&question->filter, &everything);

	if (!plain)
		window_look(window, question);
	if (plain != subject->plain || of != subject->of || (!plain && subject->renewed != window->renewed)) {
		slots_clear(&reader->slots);
		stack_filter_clear(holders);
		*holders = (struct stack_filter) {
			.filter = &subject->having, .stacks = window->inputs.stacks, .symbols = window->inputs.symbols,
			.kernel = window->inputs.kernel, .budget = window->inputs.budget,
		};
		subject->having = everything;
		filter_add_function(&subject->having, FILTER_HAS, of);
	}
	subject->plain = plain;
	subject->of = of;
	subject->renewed = window->renewed;
	subject->found = false;
	if (of)
		stack_filter_meet(holders, window->nodes->functions, window->nodes->count);
	for (uint32_t i = 0; i < holders->count; i++)
		if (holders->marks[i] & 1 && symbols_get(holders->symbols, i)->known) {
			subject->found = true;
			subject->function = i;
		}
}

struct subject_sums {
	const struct subject *subject;
	const struct match *match;
};

/* Adds the weights of the samples that pass; to `part` those with the function in their stack, except idle time. */
static void subject_add(const struct subject_sums *sums, const struct run *run, uint64_t mode[MODES], uint64_t *part)
{
	struct match_reader reader = match_begin(sums->match, run);
	const struct subject *subject = sums->subject;
	struct run_count count;
	const struct who *who;

	while (match_next(&reader, &count, &who)) {
		mode[who->mode] += count.weight;
		if (subject->found && who->mode != MODE_IDLE && stack_filter_passes(&subject->holders, count.stack))
			*part += count.weight;
	}
}

/* ---- a line over time ---- */

enum { LINE_NUMBERS = sizeof(struct series_slot) / sizeof(uint64_t) };

static void sum_cpus(const struct slice *slice, struct series_slot *sums)
{
	for (uint32_t i = 0; i < slice->cpus->count; i++) {
		const struct cpu_sums *cpu = cpus_get(slice->cpus, i);

		for (int mode = 0; cpu && mode < MODES; mode++) {
			sums->mode[mode] += cpu->mode[mode];
			sums->whole += cpu->mode[mode];
		}
	}
}

static void add_line(void *context, const struct slice *slice, uint64_t *numbers)
{
	const struct subject_sums *sums = context;
	struct series_slot slot = { .whole = 0 };

	sum_cpus(slice, &slot);
	if (!sums->subject->plain) {
		memset(slot.mode, 0, sizeof(slot.mode));
		for (size_t i = 0; i < slice->run_count; i++)
			subject_add(sums, slice->runs[i], slot.mode, &slot.part);
	}
	memcpy(numbers, &slot, sizeof(slot));
}

static void lay_out(struct series *series, uint64_t first, uint64_t now, size_t most)
{
	*series = (struct series) { .width = SERIES_NS };
	while (now / series->width - first / series->width >= most)
		series->width = series->width < 2 * SERIES_NS ? 2 * SERIES_NS :
			series->width < NS_PER_SECOND ? NS_PER_SECOND : 2 * series->width;
	series->begin = first / series->width * series->width;
	series->count = (size_t)(now / series->width - first / series->width + 1);
}

void series_make(struct query *query, const struct question *question, uint64_t of, size_t most,
	struct series *series)
{
	struct store *store = filter_store(&question->filter, &query->inputs);
	struct query_reader *reader = query_reader(query, question);
	uint64_t kept, now = store_now(store), begin = now > SERIES_REACH ? now - SERIES_REACH : 0;
	struct subject_sums sums = { .subject = &reader->subject };
	struct match match;

	store_settle(store);
	subject_follow(reader, question, of);
	kept = store_oldest(store);
	if (kept != UINT64_MAX && kept > begin)
		begin = kept;
	lay_out(series, begin < now ? begin : now, now, most);
	match = window_match(&reader->window);
	sums.match = &match;
	slots_make(&reader->slots, series->width, series->begin / series->width, (uint32_t)series->count, LINE_NUMBERS,
		&(struct summing) { .store = store, .to = UINT64_MAX, .add = add_line, .state = &sums,
		.stop = query->stop });
	if (reader->slots.count)
		memcpy(series->slots, reader->slots.sums, reader->slots.count * sizeof(*series->slots));
}

/* ---- heat ---- */

_Static_assert((int)HEAT_SLOTS == (int)STORE_FINE_SLICES && HEAT_NS == STORE_SLICE_NS, "a slot is a slice");

static void add_heat(void *context, const struct slice *slice, uint64_t *numbers)
{
	const struct subject_sums *sums = context;
	uint64_t mode[MODES] = { 0 }, part = 0;

	for (size_t i = 0; i < slice->run_count; i++)
		subject_add(sums, slice->runs[i], mode, &part);
	numbers[0] = sums->subject->of ? part : mode[MODE_KERNEL] + mode[MODE_USER];
}

/* Where a slice was already longer than its slot, nothing is known but the sum. */
void heat_make(struct query *query, const struct question *question, uint64_t of, uint64_t until,
	struct heat *heat)
{
	struct store *store = filter_store(&question->filter, &query->inputs);
	struct query_reader *reader = query_reader(query, question);
	const struct subject *subject = &reader->subject;
	uint64_t last = until / HEAT_NS;

	store_settle(store);
	subject_follow(reader, question, of);
	*heat = (struct heat) {
		.first = last >= HEAT_SLOTS ? last - HEAT_SLOTS + 1 : 0,
		.found = subject->found, .function = subject->function,
	};
	heat->count = (size_t)(last + 1 - heat->first);
	if (!subject->plain) {
		const struct match match = window_match(&reader->window);
		struct subject_sums sums = { subject, &match };

		slots_make(&reader->slots, HEAT_NS, heat->first, (uint32_t)heat->count, 1, &(struct summing) {
			.store = store, .to = UINT64_MAX, .exact = true, .add = add_heat, .state = &sums,
			.stop = query->stop });
	}
	for (size_t i = 0; i < heat->count; i++) {
		struct fine_sum fine = store_fine_sum(store, heat->first + i);
		struct heat_slot *slot = &heat->slots[i];

		if (!subject->plain && (i >= reader->slots.count || !reader->slots.marks[i]))
			continue;
		for (int mode = 0; mode < MODES; mode++)
			slot->whole += fine.mode[mode];
		slot->part = subject->plain ? fine.mode[MODE_KERNEL] + fine.mode[MODE_USER] : reader->slots.sums[i];
	}
}
