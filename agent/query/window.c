/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "haste.h"
#include "stop.h"
#include "window.h"

/*
 * The most sums and edges in all recent digests; they also get an eighth of the budget at most. Beyond
 * that, fewer slices count as recent.
 */
enum { RECENT_MAX = 4 << 20, RECENT_COST = 64 };

/*
 * Many frames of stacks do not fit in the processor's caches: then it takes so many times as long to look through a
 * count. For each count that may be looked through, so many sums of digests may be added up, and the rest of the last
 * digest; or, times OUT_TIMES, be taken out again.
 */
enum { FRAMES_MANY = 1 << 18, TIMES_SLOWER = 8, SUMS_PER_COUNT = 4, OUT_TIMES = 8 };

_Static_assert(NS_PER_SECOND / STORE_SLICE_NS * WINDOW_SECONDS + 3 <= RANGE_DIGESTS_MOST,
	"the recent digests and the past one are counted at the same time");

void window_init(struct window *window, const struct query_inputs *inputs, struct node_functions *nodes,
	const struct fine_ranges *fines, uint32_t reader)
{
	*window = (struct window) {
		.inputs = *inputs,
		.whole = inputs->store,
		.nodes = nodes,
		.fines = fines,
		.reader = reader,
		.haste = HASTE_COUNTS,
		.store_version = UINT64_MAX,
		.idle = symbols_special(inputs->symbols, "[idle]"),
		.unknown = symbols_special(inputs->symbols, "[unknown]"),
		.stack_filter = {
			.filter = &window->question.filter, .stacks = inputs->stacks, .symbols = inputs->symbols,
			.kernel = inputs->kernel,
			.budget = inputs->budget,
		},
		.grouping = {
			.stacks = inputs->stacks, .symbols = inputs->symbols, .threads = inputs->threads,
			.budget = inputs->budget,
		},
	};
}

static void drop(struct window *window, struct digest *digest)
{
	if (digest)
		range_sums_count(&window->sums, digest, false);
	digest_free(digest);
}

static void drop_past(struct window *window)
{
	drop(window, window->past);
	window->past = NULL;
}

static void drop_all(struct window *window)
{
	window->renewed++;
	range_sums_clear(&window->sums);
	drop_past(window);
	for (size_t i = 0; i < window->recent_count; i++)
		digest_free(window->recent[i]);
	free(window->recent);
	window->recent = NULL;
	window->recent_count = 0;
}

void window_clear(struct window *window)
{
	drop_all(window);
	stack_filter_clear(&window->stack_filter);
	grouping_clear(&window->grouping);
	free(window->places.list);
	fine_range_release(window->fine);
}

/* By node; NULL: the question does not ask for modes within the kernel's. */
static const uint8_t *contexts_of(struct window *window)
{
	if (window->question.by != GROUP_MODE && filter_lacks(&window->question.filter, FILTER_MODE))
		return NULL;
	return node_functions_contexts(window->nodes, window->inputs.stacks, window->inputs.symbols, window->stop);
}

struct passing window_passing(struct window *window)
{
	return (struct passing) {
		.filter = &window->question.filter, .stack_filter = &window->stack_filter,
		.threads = window->inputs.threads, .functions = window->nodes->functions,
		.contexts = contexts_of(window),
		.idle = window->idle, .unknown = window->unknown, .stop = window->stop,
	};
}

static struct digest_input input_of(struct window *window)
{
	return (struct digest_input) {
		.passing = window_passing(window), .stacks = window->inputs.stacks, .places = &window->places,
		.grouping = &window->grouping,
	};
}

/* ---- what has changed ---- */

static void follow_names(struct window *window)
{
	uint32_t changed = node_functions_update(window->nodes, window->reader, window->inputs.stacks,
		window->inputs.symbols, window->stop);

	if (changed == STACKS_NONE)
		return;
	window->renewed++;
	if (window->question.by == GROUP_LINE)		/* other names, other objects: their lines may be known */
		grouping_clear(&window->grouping);
	for (size_t i = 0; i < window->recent_count; i++)
		if (window->recent[i]->newest >= changed)
			window->recent[i]->version = UINT64_MAX;	/* of no slice: it is made anew */
	if (window->past && window->past->newest >= changed)
		drop_past(window);
}

/* Do the names of threads and processes decide what the answer is? */
static bool has_threads(const struct question *question)
{
	return grouping_has_threads(question->by) || !filter_lacks(&question->filter, FILTER_THREAD) ||
		!filter_lacks(&question->filter, FILTER_COMM) || !filter_lacks(&question->filter, FILTER_PROCESS);
}

/* Digests are of one filter and one grouping. */
static void follow_question(struct window *window, const struct question *question)
{
	uint64_t generation = threads_generation(window->inputs.threads);
	bool renamed = generation != window->threads_generation && has_threads(question);
	bool same = filter_same(&window->question.filter, &question->filter);

	window->threads_generation = generation;
	if (!same)
		stack_filter_clear(&window->stack_filter);
	if (window->question.by != question->by)
		grouping_clear(&window->grouping);
	window->grouping.by = question->by;
	if (!same || renamed || window->question.by != question->by)
		drop_all(window);
}

/* ---- the newest slices ---- */

/* The digest of one slice. A slice before the range serves only the trends, and is trimmed later. */
static struct digest *make_digest(struct window *window, const struct slice *slice, bool in_range)
{
	struct digest *digest = digest_new(slice->cpus->count,
		in_range ? window->question.callers : CALLERS_NONE, window->question.callee,
		window->inputs.budget);
	const struct digest_input input = input_of(window);

	digest_expect(digest, window->sums_expected);
	digest_add(digest, &input, slice);
	digest->serial = ++window->serial;
	window->sums_expected = digest->sum_count;
	return digest;
}

/* Do digests that keep these callers hold those that the question wants? */
static bool have_callers(enum kept_callers callers, uint32_t callee,
	const struct question *question)
{
	return question->callers == CALLERS_NONE || callers == CALLERS_ALL ||
		(callers == question->callers && callee == question->callee);
}

/* Is the digest up to date, and good for the question, or can it be made so by the callers of another function? */
static bool is_of(const struct window *window, const struct digest *digest,
	const struct slice *slice, bool in_range)
{
	return digest->begin == slice->begin && digest->end == slice->end &&
		digest->version == slice->version &&
		(!in_range || (!digest->trimmed && (window->question.callers == CALLERS_ONE ||
			have_callers(digest->callers, digest->callee, &window->question))));
}

/* The old digest is of the slice as it was, and holds what the question wants. */
static bool can_grow(const struct window *window, const struct digest *old, const struct slice *slice, bool in_range)
{
	return digest_can_grow(old, slice) && (!in_range || window->question.callers == CALLERS_ONE ||
		have_callers(old->callers, old->callee, &window->question));
}

/* The callers that are kept become those that the question wants. */
static void follow_callee(struct window *window, struct digest *digest, const struct slice *slice, struct haste *haste)
{
	const struct digest_input input = input_of(window);

	if (have_callers(digest->callers, digest->callee, &window->question))
		return;
	if (haste_allows(haste, slice))
		digest_call(digest, &input, slice, window->question.callee);
	else
		window->behind = true;
}

static struct digest *grow_digest(struct window *window, struct digest *digest, const struct slice *slice)
{
	const struct digest_input input = input_of(window);

	range_sums_count(&window->sums, digest, false);
	digest_grow(digest, &input, slice);
	digest->serial = ++window->serial;
	return digest;
}

/* The digest of the slice: the old one, if it can serve. NULL: there is no time to make it. */
static struct digest *renew_digest(struct window *window, struct digest *old, const struct slice *slice, bool in_range,
	struct haste *haste)
{
	if (old && is_of(window, old, slice, in_range))
		return old;
	if (old && can_grow(window, old, slice, in_range))
		return grow_digest(window, old, slice);
	drop(window, old);
	return haste_allows(haste, slice) ? make_digest(window, slice, in_range) : NULL;
}

static void trim(struct window *window, struct digest *digest, const struct slice *slice, struct haste *haste)
{
	if (haste_allows(haste, slice)) {
		range_sums_count(&window->sums, digest, false);
		digest_trim(digest);
	} else {
		window->behind = true;
	}
}

/*
 * Goes from the newest slice back, so that the newest are kept if there is not room for all, or no time. False: there
 * was no time for all.
 */
static bool renew_recent(struct window *window, struct haste *haste)
{
	uint64_t ago = WINDOW_SECONDS * NS_PER_SECOND;
	size_t first = span_after(window->inputs.store, window->to > ago ? window->to - ago : 0);
	size_t room = window->span.end > first ? window->span.end - first : 0;
	size_t old = window->recent_count, at = room, used = 0;
	size_t most = budget_share(window->inputs.budget, 8 * RECENT_COST);
	struct digest **recent = util_alloc(room * sizeof(*recent)), *digest;
	bool whole = true;

	while (at > 0 && used < RECENT_MAX && used < most && !stop_now(window->stop)) {
		struct slice slice = store_slice(window->inputs.store, first + at - 1);
		bool in_range = first + at - 1 >= window->span.first;

		while (old && window->recent[old - 1]->begin > slice.begin)
			drop(window, window->recent[--old]);
		digest = old && window->recent[old - 1]->begin == slice.begin ? window->recent[--old] : NULL;
		digest = renew_digest(window, digest, &slice, in_range, haste);
		whole = digest;
		if (!whole)
			break;
		if (in_range)
			follow_callee(window, digest, &slice, haste);
		if (!in_range && !digest->trimmed)
			trim(window, digest, &slice, haste);
		used += digest->sum_count + digest->edge_count + digest->self_count / 4;
		recent[--at] = digest;
	}
	while (old)
		drop(window, window->recent[--old]);
	free(window->recent);
	window->recent = recent;
	window->recent_count = room - at;
	memmove(recent, recent + at, window->recent_count * sizeof(*recent));
	return whole;
}

/* ---- all slices before them ---- */

bool window_holds(const struct window *window, const struct stretch *stretch, size_t end)
{
	const struct store *store = window->inputs.store;

	if (stretch->given_up != store_given_up(store) ||
			store_slice(store, window->span.first).begin != stretch->begin ||
			store_slice(store, end - 1).end < stretch->end)
		return false;
	for (size_t i = window->span.first; i < end; i++) {
		struct slice slice = store_slice(store, i);

		if (slice.begin < stretch->end && (slice.end > stretch->end || slice.version > stretch->version))
			return false;
	}
	return true;
}

/* Is `past` the sum of the first slices from span.first to `end`, for as many CPUs as these have? */
static bool past_holds(const struct window *window, size_t end)
{
	const struct digest *past = window->past;

	if (!past || !have_callers(past->callers, 0, &window->question) ||
			!window_holds(window, &(struct stretch) { .begin = past->begin, .end = past->end,
				.version = past->version, .given_up = window->given_up }, end))
		return false;
	for (size_t i = window->span.first; i < end && past->cpu_count < 64 * DIGEST_WORDS_MAX; i++)
		if (store_slice(window->inputs.store, i).cpus->count > past->cpu_count)
			return false;
	return true;
}

static void begin_past(struct window *window, size_t end)
{
	uint32_t cpu_count = 0;

	for (size_t i = window->span.first; i < end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		if (slice.cpus->count > cpu_count)
			cpu_count = slice.cpus->count;
	}
	window->past = digest_new(cpu_count, window->question.callers ? CALLERS_ALL : CALLERS_NONE,
		0, window->inputs.budget);
	window->given_up = store_given_up(window->inputs.store);
}

/* `goes_on`: no recent digest is missing. */
static void renew_past(struct window *window, struct haste *haste, bool goes_on)
{
	const struct digest_input input = input_of(window);
	size_t end = window->span.end - window->recent_count;
	bool holds = end > window->span.first && past_holds(window, end);

	if (!holds)
		drop_past(window);
	if (end <= window->span.first || !goes_on)
		return;
	if (!holds)
		begin_past(window, end);
	for (size_t i = window->span.first; i < end && !stop_now(window->stop); i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		if (slice.begin < window->past->end)
			continue;
		if (!haste_allows(haste, &slice)) {
			window->behind = true;
			return;
		}
		range_sums_count(&window->sums, window->past, false);
		digest_add(window->past, &input, &slice);
		window->past->serial = ++window->serial;
	}
}

/* ---- the range ---- */

/* So many of the recent digests come before the range. */
static size_t skipped(const struct window *window)
{
	size_t before = window->span.end - window->recent_count;

	return window->span.first > before ? window->span.first - before : 0;
}

/*
 * Are there more sums to be counted out than to stay, or more than there is time for? Then all are counted anew. What
 * leaves a live window between two answers is never so much.
 */
static bool is_narrower(const struct window *window, size_t first, uint64_t sums)
{
	size_t out = 0, stay = window->past && window->past->counted ? window->past->sum_count : 0;

	for (size_t i = 0; i < window->recent_count; i++)
		if (i < first && window->recent[i]->counted)
			out += window->recent[i]->sum_count;
		else if (i >= first)
			stay += window->recent[i]->sum_count;
	return out > stay || out / OUT_TIMES > sums;
}

/* Counts a digest of the range in, if it begins at `new` or later, or there is time for its sums. */
static void count_in(struct window *window, struct digest *digest, uint64_t new, uint64_t *sums)
{
	if (!digest->counted && digest->begin < new) {
		if (!*sums) {
			window->behind = true;
			return;
		}
		*sums -= digest->sum_count < *sums ? digest->sum_count : *sums;
	}
	range_sums_count(&window->sums, digest, true);
}

/* `new`: as in haste.h. `sums`: so many are added up. */
static void count_range(struct window *window, uint64_t new, uint64_t sums)
{
	size_t first = skipped(window);
	bool edges = grouping_has_ran(window->question.by) && window->question.callers == CALLERS_ALL;
	uint32_t cpus = window->past ? window->past->cpu_count : 0;

	for (size_t i = first; i < window->recent_count; i++)
		cpus = window->recent[i]->cpu_count > cpus ? window->recent[i]->cpu_count : cpus;
	window->sums.stale |= is_narrower(window, first, sums);
	if (!range_sums_ready(&window->sums, window->inputs.budget, cpus, edges)) {
		for (size_t i = 0; i < window->recent_count; i++)
			window->recent[i]->counted = false;
		if (window->past)
			window->past->counted = false;
		new = UINT64_MAX;		/* no sums: nothing follows them */
	}
	for (size_t i = 0; i < first && i < window->recent_count; i++)
		range_sums_count(&window->sums, window->recent[i], false);
	for (size_t i = window->recent_count; i-- > first;)
		count_in(window, window->recent[i], new, &sums);
	if (window->past)
		count_in(window, window->past, new, &sums);
}

static bool is_answered(const struct window *window, const struct question *question)
{
	return question->from == window->question.from && question->to == window->question.to &&
		question->by == window->question.by &&
		filter_same(&question->filter, &window->question.filter) &&
		have_callers(window->question.callers, window->question.callee, question) &&
		window->store_version == store_version(window->inputs.store) &&
		node_functions_is_current(window->nodes, window->reader, window->inputs.symbols) &&
		window->threads_generation == threads_generation(window->inputs.threads);
}

/* A question that was given up half-way leaves nothing that can be used. */
static void forget(struct window *window)
{
	drop_all(window);
	node_functions_forget(window->nodes);
	window->store_version = UINT64_MAX;
}

/* A fine range is a store of its own. Nothing that was made of another store is of use. */
static void follow_store(struct window *window, const struct question *question)
{
	struct fine_range *fine = question->fine ? fine_ranges_find(window->fines, question->from, question->to) : NULL;

	if (fine == window->fine)
		return;
	drop_all(window);
	fine_range_release(window->fine);
	window->fine = fine_range_hold(fine);
	window->inputs.store = fine ? fine->store : window->whole;
	window->store_version = UINT64_MAX;
}

static struct span span_of(const struct window *window)
{
	const struct store *store = window->inputs.store;

	return window->fine ? (struct span) { 0, store_slices(store) } :
		span_find(store, window->question.from, window->question.to);
}

void window_look(struct window *window, const struct question *question)
{
	uint64_t now;

	follow_store(window, question);
	now = store_now(window->inputs.store);
	store_settle(window->inputs.store);
	if (grouping_changed(&window->grouping) || stack_filter_changed(&window->stack_filter)) {
		drop_all(window);
		window->store_version = UINT64_MAX;
	}
	if (is_answered(window, question))
		return;
	follow_question(window, question);
	window->question = *question;
	window->store_version = store_version(window->inputs.store);
	follow_names(window);
	window->span = span_of(window);
	window->to = question->to < now ? question->to : now;
	window->digested = false;
	if (stop_now(window->stop))
		forget(window);
}

static void digest_range(struct window *window, bool hasty)
{
	const struct digest *newest = window->recent_count ? window->recent[window->recent_count - 1] : NULL;
	struct haste haste = haste_of(hasty ? window->haste : HASTE_NONE, window->to, newest ? newest->end : 0);
	uint64_t sums;
	bool whole;

	if (hasty && stacks_nodes(window->inputs.stacks) >= FRAMES_MANY)
		haste.counts /= TIMES_SLOWER;
	sums = hasty ? SUMS_PER_COUNT * haste.counts : UINT64_MAX;
	window->behind = false;
	whole = renew_recent(window, &haste);
	window->behind |= !whole;
	renew_past(window, &haste, whole);
	count_range(window, haste.new, sums);
	window->digested = true;
	window->updated++;
	if (stop_now(window->stop))
		forget(window);
}

void window_update(struct window *window, const struct question *question)
{
	window_look(window, question);
	if (!window->digested || (window->behind && !question->hasty))
		digest_range(window, question->hasty);
}

void window_go_on(struct window *window, const struct question *question)
{
	window_look(window, question);
	if (!window->digested || window->behind)
		digest_range(window, question->hasty);
}

struct range window_range(const struct window *window)
{
	const struct store *store = window->inputs.store;
	uint64_t now = store_now(store), end, from = window->question.from;
	struct range range = { .from = from < window->to ? from : window->to, .to = window->to };
	bool more = window->span.end < store_slices(store);

	if (window->span.first == window->span.end || window->fine)
		return range;
	range.from = store_slice(store, window->span.first).begin;
	end = store_slice(store, window->span.end - 1).end;
	if (end > range.to)
		range.to = end < now ? end : now;
	else if (more && store_slice(store, window->span.end).begin < range.to)
		range.to = store_slice(store, window->span.end).begin;
	return range;
}

struct digest *window_digest(const struct window *window, size_t index)
{
	size_t skip = skipped(window);

	if (!window->digested)
		return NULL;
	if (window->past && index-- == 0)
		return window->past;
	return skip + index < window->recent_count ? window->recent[skip + index] : NULL;
}
