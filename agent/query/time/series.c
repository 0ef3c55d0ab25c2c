/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/query/match.h"
#include "agent/query/query_state.h"
#include "agent/query/stop.h"
#include "agent/store/store.h"
#include "series.h"
#include "subject.h"

struct part {				/* the sums of one slice */
	uint64_t begin, end, version;
	struct series_slot sums;
};

/* What is kept for a reader. */
struct kept {
	struct part *parts;		/* in order of time */
	size_t count;
	struct subject subject;
};

static void drop(void *context)
{
	struct kept *kept = context;

	subject_clear(&kept->subject);
	free(kept->parts);
	free(kept);
}

static struct kept *kept_of(struct query *query, struct query_reader *reader)
{
	struct kept *kept = query_beside(reader, drop);

	if (kept)
		return kept;
	kept = util_alloc(sizeof(*kept));
	kept->subject.budget = query->inputs.budget;
	query_keep_beside(reader, kept, drop);
	return kept;
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
	const struct store *store = query->inputs.store;
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

void series_make(struct query *query, const struct question *question, uint64_t of, const char *kernel, size_t most,
	struct series *series)
{
	struct store *store = query->inputs.store;
	struct query_reader *reader = query_reader(query, question);
	struct kept *kept = kept_of(query, reader);
	uint64_t now = store_now(store), begin = now > SERIES_REACH ? now - SERIES_REACH : 0;

	store_settle(store);
	if (!subject_follow(&kept->subject, reader, question, of, kernel))
		kept->count = 0;
	if (store_slices(store) && store_slice(store, 0).begin > begin)
		begin = store_slice(store, 0).begin;
	lay_out(series, begin < now ? begin : now, now, most);
	update(kept, query, reader, span_after(store, series->begin));
	for (size_t i = 0; i < kept->count; i++)
		add_part(series, &kept->parts[i]);
}
