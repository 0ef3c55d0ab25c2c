/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/match.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/query/stop.h"
#include "agent/store/store.h"
#include "series.h"

/* ---- what a series is of ---- */

/* What a question about slots of time is about: the samples that pass a filter, and those of one function. */
struct subject {
	uint64_t renewed;		/* of the window: when it grows, names or filter have changed */
	uint64_t of;			/* the tree_name of a function; 0: none */
	bool plain;			/* everything passes, and no function is wanted */
	bool found;			/* `function` is the wanted one: a stack has it */
	uint32_t function;
	struct filter having;		/* lets the stacks pass that have the function */
	struct stack_filter holders;	/* of that filter */
};

/*
 * Takes filter and function of a new question. False: what was summed under the last one is of no use, since names,
 * filter or function are others.
 */
static bool subject_follow(struct subject *subject, struct query_reader *reader, const struct question *question,
	uint64_t of)
{
	static const struct filter everything = { .count = 0 };
	struct stack_filter *holders = &subject->holders;
	struct window *window = &reader->window;
	bool plain = of == 0 && filter_same(&question->filter, &everything), same;

	if (!plain)
		window_look(window, question);
	same = plain == subject->plain && of == subject->of && (plain || subject->renewed == window->renewed);
	if (!same) {
		stack_filter_clear(holders);
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
	return same;
}

/* Adds the weights of the samples that pass; to `part` those with the function in their stack, except idle time. */
static void subject_add(const struct subject *subject, const struct match *match, const struct run *run,
	uint64_t mode[MODES], uint64_t *part)
{
	struct match_reader reader = match_begin(match, run);
	struct run_count count;
	const struct who *who;

	while (match_next(&reader, &count, &who)) {
		mode[who->mode] += count.weight;
		if (subject->found && who->mode != MODE_IDLE && stack_filter_passes(&subject->holders, count.stack))
			*part += count.weight;
	}
}

/*
 * What is kept for a reader, of `size` bytes, the first of which are its subject; all is 0 at first. `drop` frees it.
 */
static void *kept_of(struct query *query, struct query_reader *reader, void (*drop)(void *state), size_t size)
{
	struct subject *kept = query_beside(reader, drop);

	if (!kept) {
		kept = util_alloc(size);
		kept->holders = (struct stack_filter) {
			.filter = &kept->having, .stacks = query->inputs.stacks, .symbols = query->inputs.symbols,
			.kernel = query->inputs.kernel, .budget = query->inputs.budget,
		};
		query_keep_beside(reader, kept, drop);
	}
	return kept;
}

/* ---- a series ---- */

struct part {				/* the sums of one slice */
	uint64_t begin, end, version;
	struct series_slot sums;
};

struct kept {
	struct subject subject;		/* first: see kept_of */
	struct part *parts;		/* in order of time */
	size_t count;
};

static void drop(void *context)
{
	struct kept *kept = context;

	stack_filter_clear(&kept->subject.holders);
	free(kept->parts);
	free(kept);
}

/* ---- one slice ---- */

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

static struct part sum_slice(const struct kept *kept, const struct match *match, const struct slice *slice)
{
	struct part part = { .begin = slice->begin, .end = slice->end, .version = slice->version };

	sum_cpus(slice, &part.sums);
	if (kept->subject.plain)
		return part;
	memset(part.sums.mode, 0, sizeof(part.sums.mode));
	for (size_t i = 0; i < slice->run_count; i++)
		subject_add(&kept->subject, match, slice->runs[i], part.sums.mode, &part.sums.part);
	return part;
}

/* ---- all slices ---- */

/* Puts the parts that hold still at the places of their slices. */
static void keep_parts(const struct kept *kept, const struct store *store, size_t first, size_t count,
	struct part *parts)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct slice slice = store_slice(store, first + i);
		const struct part *old;

		while (at < kept->count && kept->parts[at].begin < slice.begin)
			at++;
		old = at < kept->count ? &kept->parts[at] : NULL;
		if (old && old->begin == slice.begin && old->end == slice.end && old->version == slice.version)
			parts[i] = *old;
	}
}

static void update(struct kept *kept, struct query *query, struct query_reader *reader, size_t first)
{
	const struct store *store = filter_store(&reader->window.question.filter, &query->inputs);
	const struct match match = window_match(&reader->window);
	size_t count = store_slices(store) - first, made = 0;
	struct part *parts = util_alloc((count + 1) * sizeof(*parts));

	keep_parts(kept, store, first, count, parts);
	for (size_t i = 0; i < count && !stop_now(query->stop); i++) {
		struct slice slice = store_slice(store, first + i);

		if (parts[i].end)
			continue;
		parts[i] = sum_slice(kept, &match, &slice);
		reader->beside.walked++;
	}
	for (size_t i = 0; i < count; i++)
		if (parts[i].end)
			parts[made++] = parts[i];
	free(kept->parts);
	kept->parts = parts;
	kept->count = stop_now(query->stop) ? 0 : made;
}

/* ---- slots ---- */

/* The part of a slice's weight that falls into [from, to); a long slice is taken as even. */
static uint64_t share(uint64_t weight, const struct part *part, uint64_t from, uint64_t to)
{
	unsigned __int128 wide = weight;
	uint64_t length = part->end - part->begin;

	from = from > part->begin ? from - part->begin : 0;
	to = to < part->end ? to - part->begin : length;
	return (uint64_t)(wide * to / length) - (uint64_t)(wide * from / length);
}

static void add_part(struct series *series, const struct part *part)
{
	uint64_t from = part->begin > series->begin ? part->begin - series->begin : 0;

	for (size_t i = from / series->width; i < series->count; i++) {
		uint64_t begin = series->begin + i * series->width, end = begin + series->width;
		struct series_slot *slot = &series->slots[i];

		if (begin >= part->end)
			return;
		slot->whole += share(part->sums.whole, part, begin, end);
		slot->part += share(part->sums.part, part, begin, end);
		for (int mode = 0; mode < MODES; mode++)
			slot->mode[mode] += share(part->sums.mode[mode], part, begin, end);
	}
}

static void lay_out(struct series *series, uint64_t first, uint64_t now, size_t most)
{
	*series = (struct series) { .width = SERIES_NS };
	while (now / series->width - first / series->width >= most)
		series->width *= 2;
	series->begin = first / series->width * series->width;
	series->count = (size_t)(now / series->width - first / series->width + 1);
}

void series_make(struct query *query, const struct question *question, uint64_t of, size_t most,
	struct series *series)
{
	struct store *store = filter_store(&question->filter, &query->inputs);
	struct query_reader *reader = query_reader(query, question);
	struct kept *kept = kept_of(query, reader, drop, sizeof(*kept));
	uint64_t now = store_now(store), begin = now > SERIES_REACH ? now - SERIES_REACH : 0;

	store_settle(store);
	if (!subject_follow(&kept->subject, reader, question, of))
		kept->count = 0;
	if (store_slices(store) && store_slice(store, 0).begin > begin)
		begin = store_slice(store, 0).begin;
	lay_out(series, begin < now ? begin : now, now, most);
	update(kept, query, reader, span_after(store, series->begin));
	for (size_t i = 0; i < kept->count; i++)
		add_part(series, &kept->parts[i]);
}

/* ---- heat ---- */

_Static_assert((int)HEAT_SLOTS == (int)STORE_FINE_SLICES && HEAT_NS == STORE_SLICE_NS, "a slot is a slice");

struct heat_part {				/* the sums of one slot */
	uint64_t number, version;	/* version 0: there are none */
	struct heat_slot sums;
};

struct heat_kept {
	struct subject subject;			/* first: see kept_of */
	struct heat_part parts[HEAT_SLOTS];	/* by the slot's number modulo HEAT_SLOTS */
};

static void heat_drop(void *context)
{
	struct heat_kept *kept = context;

	stack_filter_clear(&kept->subject.holders);
	free(kept);
}

static void forget(struct heat_kept *kept)
{
	for (size_t i = 0; i < HEAT_SLOTS; i++)
		kept->parts[i].version = 0;
}

/* `slice` is that of the slot; NULL: it is coarser by now, so nothing is known but the sum. */
static struct heat_slot sum_slot(const struct heat_kept *kept, const struct match *match, const struct fine_sum *sum,
	const struct slice *slice)
{
	uint64_t mode[MODES] = { 0 }, part = 0;
	struct heat_slot sums = { .whole = 0 };

	if (!slice && !kept->subject.plain)
		return sums;
	for (int i = 0; i < MODES; i++)
		sums.whole += sum->mode[i];
	if (kept->subject.plain) {
		sums.part = sum->mode[MODE_KERNEL] + sum->mode[MODE_USER];
		return sums;
	}
	for (size_t i = 0; i < slice->run_count; i++)
		subject_add(&kept->subject, match, slice->runs[i], mode, &part);
	sums.part = kept->subject.of ? part : mode[MODE_KERNEL] + mode[MODE_USER];
	return sums;
}

/* A slot whose slice is coarser by now, but was summed while it was not, keeps its sums. */
static void heat_update(struct heat_kept *kept, struct query *query, struct query_reader *reader, struct heat *heat)
{
	const struct store *store = filter_store(&reader->window.question.filter, &query->inputs);
	const struct match match = window_match(&reader->window);
	size_t at = span_after(store, heat->first * HEAT_NS), end = store_slices(store);

	for (size_t i = 0; i < heat->count && !stop_now(query->stop); i++) {
		uint64_t number = heat->first + i;
		struct fine_sum sum = store_fine_sum(store, number);
		struct heat_part *part = &kept->parts[number % HEAT_SLOTS];
		struct slice slice = { .begin = 0 };
		bool fine;

		while (at < end && (slice = store_slice(store, at)).end <= number * HEAT_NS)
			at++;
		fine = at < end && slice.begin == number * HEAT_NS && slice.end == slice.begin + HEAT_NS;
		if (part->number != number || (part->version < sum.version && (fine || kept->subject.plain))) {
			*part = (struct heat_part) { .number = number, .version = sum.version };
			part->sums = sum_slot(kept, &match, &sum, fine ? &slice : NULL);
			reader->beside.walked += sum.version != 0;
		}
		if (part->version)
			heat->slots[i] = part->sums;
	}
	if (stop_now(query->stop))
		forget(kept);
}

void heat_make(struct query *query, const struct question *question, uint64_t of, uint64_t until,
	struct heat *heat)
{
	struct query_reader *reader = query_reader(query, question);
	struct heat_kept *kept = kept_of(query, reader, heat_drop, sizeof(*kept));
	uint64_t last = until / HEAT_NS;

	store_settle(filter_store(&question->filter, &query->inputs));
	if (!subject_follow(&kept->subject, reader, question, of))
		forget(kept);
	*heat = (struct heat) {
		.first = last >= HEAT_SLOTS ? last - HEAT_SLOTS + 1 : 0,
		.found = kept->subject.found, .function = kept->subject.function,
	};
	heat->count = (size_t)(last + 1 - heat->first);
	heat_update(kept, query, reader, heat);
}
