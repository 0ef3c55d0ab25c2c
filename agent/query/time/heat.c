/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/query/match.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/query/stop.h"
#include "agent/store/store.h"
#include "heat.h"
#include "series.h"

_Static_assert((int)HEAT_SLOTS == (int)STORE_FINE_SLICES && HEAT_NS == STORE_SLICE_NS, "a slot is a slice");

struct part {				/* the sums of one slot */
	uint64_t number, version;	/* version 0: there are none */
	struct heat_slot sums;
};

/* What is kept for a reader. */
struct kept {
	struct part parts[HEAT_SLOTS];	/* by the slot's number modulo HEAT_SLOTS */
	struct subject subject;
};

static void drop(void *context)
{
	struct kept *kept = context;

	subject_clear(&kept->subject);
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

static void forget(struct kept *kept)
{
	for (size_t i = 0; i < HEAT_SLOTS; i++)
		kept->parts[i].version = 0;
}

/* `slice` is that of the slot; NULL: it is coarser by now, so nothing is known but the sum. */
static struct heat_slot sum_slot(const struct kept *kept, const struct match *match, const struct fine_sum *sum,
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
static void update(struct kept *kept, struct query *query, struct query_reader *reader, struct heat *heat)
{
	const struct store *store = filter_store(&reader->window.question.filter, &query->inputs);
	const struct match match = window_match(&reader->window);
	size_t at = span_after(store, heat->first * HEAT_NS), end = store_slices(store);

	for (size_t i = 0; i < heat->count && !stop_now(query->stop); i++) {
		uint64_t number = heat->first + i;
		struct fine_sum sum = store_fine_sum(store, number);
		struct part *part = &kept->parts[number % HEAT_SLOTS];
		struct slice slice = { .begin = 0 };
		bool fine;

		while (at < end && (slice = store_slice(store, at)).end <= number * HEAT_NS)
			at++;
		fine = at < end && slice.begin == number * HEAT_NS && slice.end == slice.begin + HEAT_NS;
		if (part->number != number || (part->version < sum.version && (fine || kept->subject.plain))) {
			*part = (struct part) { .number = number, .version = sum.version };
			part->sums = sum_slot(kept, &match, &sum, fine ? &slice : NULL);
			reader->beside.walked += sum.version != 0;
		}
		if (part->version)
			heat->slots[i] = part->sums;
	}
	if (stop_now(query->stop))
		forget(kept);
}

void heat_make(struct query *query, const struct question *question, uint64_t of, const char *kernel, uint64_t until,
	struct heat *heat)
{
	struct query_reader *reader = query_reader(query, question);
	struct kept *kept = kept_of(query, reader);
	uint64_t last = until / HEAT_NS;

	store_settle(filter_store(&question->filter, &query->inputs));
	if (!subject_follow(&kept->subject, reader, question, of, kernel))
		forget(kept);
	*heat = (struct heat) {
		.first = last >= HEAT_SLOTS ? last - HEAT_SLOTS + 1 : 0,
		.found = kept->subject.holders.found, .function = kept->subject.holders.function,
	};
	heat->count = (size_t)(last + 1 - heat->first);
	update(kept, query, reader, heat);
}
