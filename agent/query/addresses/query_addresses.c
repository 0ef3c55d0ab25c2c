/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/query/haste.h"
#include "agent/query/query_state.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "query_addresses.h"

enum { KEPT_MOST = 1 << 20 };		/* entries of all parts; with more, nothing is kept for the next answer */

#define NOWHERE 0xffffffffu

struct entry {
	uint32_t at;			/* the index of its address in the sums */
	uint64_t weight, samples;
};

struct part {				/* what one slice adds to the sums */
	uint64_t begin, end, version;
	struct address_sums whole;	/* without addresses */
	struct entry *entries;
	uint32_t count, room;
};

/* What is kept for a reader: a slice is walked when it is new or has changed, and counted out when it leaves. */
struct kept {
	struct budget *budget;
	uint32_t functions[ADDRESS_FUNCTIONS];
	size_t function_count;
	bool all;			/* of all functions */
	uint64_t renewed;		/* the window's */
	struct part *parts;		/* in order of time */
	size_t count, entries;		/* `entries`: those of all parts */
	bool scarce;			/* something found no room: the next answer begins anew */
	struct address_sums sums;	/* of all parts, in no order; some may be 0 by now */
	size_t room;
	struct hash by_address;
};

/* ---- what is kept ---- */

static void free_entries(struct kept *kept, struct part *part)
{
	kept->entries -= part->count;
	budget_free(kept->budget, part->entries, part->room * sizeof(*part->entries));
}

static void forget(struct kept *kept)
{
	for (size_t i = 0; i < kept->count; i++)
		free_entries(kept, &kept->parts[i]);
	free(kept->parts);
	kept->parts = NULL;
	kept->count = 0;
	kept->scarce = false;
	address_sums_clear(&kept->sums);
	kept->room = 0;
	hash_clear(&kept->by_address);
}

static void drop(void *context)
{
	struct kept *kept = context;

	forget(kept);
	free(kept);
}

static struct kept *kept_of(struct query *query, struct query_reader *reader)
{
	struct kept *kept = query_beside(reader, drop);

	if (kept)
		return kept;
	kept = util_alloc(sizeof(*kept));
	kept->budget = query->inputs.budget;
	hash_init(&kept->by_address, NULL);
	query_keep_beside(reader, kept, drop);
	return kept;
}

/* Sums of another filter, of other functions, or by names that have changed since are of no use. */
static void follow(struct kept *kept, const struct window *window, const uint32_t *functions, size_t count)
{
	bool same = kept->all == !functions && kept->function_count == count && kept->renewed == window->renewed &&
		!kept->scarce && (!count || memcmp(kept->functions, functions, count * sizeof(*functions)) == 0);

	if (!same)
		forget(kept);
	if (count)
		memcpy(kept->functions, functions, count * sizeof(*functions));
	kept->all = !functions;
	kept->function_count = count;
	kept->renewed = window->renewed;
}

/* ---- one slice ---- */

static bool is_wanted(const struct kept *kept, uint32_t function)
{
	for (size_t i = 0; i < kept->function_count; i++)
		if (kept->functions[i] == function)
			return true;
	return kept->all;
}

/* Its index in the sums. NOWHERE: there is no room. */
static uint32_t place_of(struct kept *kept, const struct node *node, uint32_t function)
{
	uint64_t value = hash_pair(&kept->by_address, node->address, node->space);
	struct address_sums *sums = &kept->sums;
	uint32_t at = 0, position;

	while ((position = hash_next(&kept->by_address, value, &at)) != HASH_NONE)
		if (sums->sums[position].address == node->address && sums->sums[position].space == node->space)
			return position;
	if (sums->count == ADDRESSES_MAX || !hash_add(&kept->by_address, value, (uint32_t)sums->count))
		return NOWHERE;
	if (sums->count == kept->room) {
		kept->room = 2 * kept->room + 64;
		sums->sums = util_grow(sums->sums, kept->room, sizeof(*sums->sums));
	}
	sums->sums[sums->count] = (struct address_sum) {
		.address = node->address, .space = node->space, .function = function,
	};
	return (uint32_t)sums->count++;
}

/* The counts of one stack follow each other within a run, so that most of them go to the last entry. */
static struct entry *have_entry(struct kept *kept, struct part *part, uint32_t at)
{
	struct entry *entries;

	if (part->count && part->entries[part->count - 1].at == at)
		return &part->entries[part->count - 1];
	entries = kept->entries == KEPT_MOST ? NULL :
		budget_array(kept->budget, part->entries, part->count, &part->room, sizeof(*entries));
	if (!entries)
		return NULL;
	part->entries = entries;
	kept->entries++;
	entries[part->count] = (struct entry) { .at = at };
	return &entries[part->count++];
}

/* What finds no room is in the sums all the same; they can only not be corrected later. */
static void add_stack(struct kept *kept, struct part *part, const struct node *node, uint32_t function,
	const struct run_count *count)
{
	uint32_t at = place_of(kept, node, function);
	struct entry *entry = at == NOWHERE ? NULL : have_entry(kept, part, at);

	part->whole.self += count->weight;
	part->whole.self_samples += count->samples;
	if (entry) {
		entry->weight += count->weight;
		entry->samples += count->samples;
		return;
	}
	kept->scarce = true;
	if (at == NOWHERE) {
		kept->sums.left_out += count->weight;
		return;
	}
	kept->sums.sums[at].weight += count->weight;
	kept->sums.sums[at].samples += count->samples;
}

static void add_run(struct kept *kept, struct part *part, const struct passing *passing, const struct stacks *stacks,
	const struct run *run)
{
	struct passing_reader reader;
	struct run_count count;
	const struct who *who;

	passing_begin(&reader, passing, run);
	while (passing_next(&reader, &count, &who)) {
		part->whole.weight += count.weight;
		part->whole.samples += count.samples;
		part->whole.mode[who->mode] += count.weight;
		if (who->mode != MODE_IDLE && count.stack != STACKS_NONE &&
				is_wanted(kept, passing->functions[count.stack])) {
			struct node node = stacks_node(stacks, count.stack);

			add_stack(kept, part, &node, passing->functions[count.stack], &count);
		}
	}
	passing_end(&reader);
}

static struct part sum_slice(struct kept *kept, const struct passing *passing, const struct stacks *stacks,
	const struct slice *slice)
{
	struct part part = { .begin = slice->begin, .end = slice->end, .version = slice->version };

	for (size_t i = 0; i < slice->run_count; i++)
		add_run(kept, &part, passing, stacks, slice->runs[i]);
	part.whole.time = part.whole.weight * slice->period;
	return part;
}

/* ---- all slices of the range ---- */

/* Takes a part into the sums, or out of them. */
static void count_part(struct kept *kept, const struct part *part, bool in)
{
	struct address_sums *sums = &kept->sums;
	uint64_t sign = in ? 1 : UINT64_MAX;

	sums->weight += sign * part->whole.weight;
	sums->samples += sign * part->whole.samples;
	sums->self += sign * part->whole.self;
	sums->self_samples += sign * part->whole.self_samples;
	sums->time += sign * part->whole.time;
	for (int mode = 0; mode < MODES; mode++)
		sums->mode[mode] += sign * part->whole.mode[mode];
	for (uint32_t i = 0; i < part->count; i++) {
		const struct entry *entry = &part->entries[i];

		sums->sums[entry->at].weight += sign * entry->weight;
		sums->sums[entry->at].samples += sign * entry->samples;
	}
}

static void drop_part(struct kept *kept, struct part *part)
{
	count_part(kept, part, false);
	free_entries(kept, part);
}

/* Puts the parts that hold still at the places of their slices, and drops the others. */
static void keep_parts(struct kept *kept, const struct window *window, size_t count, struct part *parts)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct slice slice = store_slice(window->inputs.store, window->span.first + i);
		const struct part *old;

		while (at < kept->count && kept->parts[at].begin < slice.begin)
			drop_part(kept, &kept->parts[at++]);
		old = at < kept->count ? &kept->parts[at] : NULL;
		if (old && old->begin == slice.begin && old->end == slice.end && old->version == slice.version)
			parts[i] = kept->parts[at++];
	}
	while (at < kept->count)
		drop_part(kept, &kept->parts[at++]);
}

/* Walks the newest slices first, as far as there is time. True: slices are lacking still. */
static bool update(struct kept *kept, struct query_reader *reader, struct haste haste)
{
	struct window *window = &reader->window;
	const struct passing passing = window_passing(window);
	size_t count = window->span.end - window->span.first, made = 0;
	struct part *parts = util_alloc((count + 1) * sizeof(*parts));
	bool lacks = false;

	keep_parts(kept, window, count, parts);
	for (size_t i = count; i-- > 0 && !stop_now(window->stop);) {
		struct slice slice = store_slice(window->inputs.store, window->span.first + i);

		if (parts[i].end)
			continue;
		lacks = !haste_allows(&haste, &slice);
		if (lacks)
			break;
		parts[i] = sum_slice(kept, &passing, window->inputs.stacks, &slice);
		count_part(kept, &parts[i], true);
		reader->beside.walked++;
	}
	for (size_t i = 0; i < count; i++)
		if (parts[i].end)
			parts[made++] = parts[i];
	free(kept->parts);
	kept->parts = parts;
	kept->count = made;
	return lacks;
}

static int heavier(const void *left, const void *right)
{
	const struct address_sum *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->address > b->address) - (a->address < b->address);
}

/* The sums as they are now, as the caller's own. */
static struct address_sums copy_sums(const struct kept *kept)
{
	struct address_sums sums = kept->sums;

	sums.sums = util_grow(NULL, kept->sums.count + 1, sizeof(*sums.sums));
	sums.count = 0;
	for (size_t i = 0; i < kept->sums.count; i++)
		if (kept->sums.sums[i].samples)
			sums.sums[sums.count++] = kept->sums.sums[i];
	qsort(sums.sums, sums.count, sizeof(*sums.sums), heavier);
	return sums;
}

struct address_sums query_addresses(struct query *query, const struct question *question, const uint32_t *functions,
	size_t count)
{
	struct query_reader *reader = query_reader(query, question);
	struct kept *kept = kept_of(query, reader);
	bool hasty = question->hasty && !kept->scarce;	/* what is scarce is not kept: there is no going on with it */
	struct address_sums sums;
	struct range range;
	bool lacks;

	window_look(&reader->window, question);
	follow(kept, &reader->window, functions, count < ADDRESS_FUNCTIONS ? count : ADDRESS_FUNCTIONS);
	lacks = update(kept, reader, haste_of(hasty ? reader->window.haste : HASTE_NONE, 0, 0));
	sums = copy_sums(kept);
	sums.lacks = lacks;
	range = window_range(&reader->window);
	sums.from = range.from;
	sums.to = range.to;
	if (stop_now(reader->window.stop))
		forget(kept);
	return sums;
}

void address_sums_clear(struct address_sums *sums)
{
	free(sums->sums);
	*sums = (struct address_sums) { .count = 0 };
}
