/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/addresses/query_addresses.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "profile.h"

_Static_assert(sizeof(struct cpu_series) <= 2 * EPOCH_ANSWER_CPU &&
	sizeof(struct profile_books) <= 2 * EPOCH_ANSWER_CPU,
	"an answer fits in the memory that the epoch takes for it");

/* Gaps have no thread and no mode, so they are a share of the samples of all threads and modes. */
static void tell_gaps(struct profile *profile, const struct epoch *epoch)
{
	struct cpu_series *cpus = util_alloc(epoch->cpus_seen * sizeof(*cpus));
	uint64_t missed = 0, weight = 0;

	query_cpus(epoch->query, &profile->question, cpus, epoch->cpus_seen);
	for (uint32_t i = 0; i < epoch->cpus_seen; i++) {
		uint64_t sampled = 0;

		for (int mode = 0; mode < MODES; mode++)
			sampled += cpus[i].mode[mode];
		profile->sampled = profile->sampled || sampled;
		if (!filter_passes_cpu(&profile->question.filter, i))
			continue;
		missed += cpus[i].missed;
		weight += sampled;
	}
	profile->missed = missed ? (double)missed / (double)(missed + weight) : 0;
	free(cpus);
}

static void tell_books(struct profile *profile, const struct moment *moment)
{
	profile->cpu_count = moment->epoch->cpus_seen;
	profile->books = util_alloc(profile->cpu_count * sizeof(*profile->books));
	for (uint32_t i = 0; i < profile->cpu_count; i++)
		profile->books[i] = (struct profile_books) {
			.samples = decode_books(moment->decode, STREAM_SAMPLES, i),
			.trace = decode_books(moment->decode, STREAM_TRACE, i),
		};
	profile->lost = decode_books_all(moment->decode, STREAM_SAMPLES).lost;
}

/* Asks for the source lines of all functions, so that a worker reads those that are not known yet. */
static bool lines_known(const struct table *table, struct symbols *symbols)
{
	bool known = true;

	for (size_t i = 0; i < table->count; i++)
		known &= symbols_line(symbols, table->rows[i].function) != NULL;
	return known;
}

struct seen_callers {
	const struct symbols *symbols;
	uint64_t weight;		/* of the stacks whose leaf has a name, and a caller has none */
};

static void see_callers(void *context, const struct query_stack *stack)
{
	struct seen_callers *seen = context;
	size_t callers = stack->depth - 1;

	if (function_is_unknown(symbols_get(seen->symbols, stack->functions[callers])))
		return;
	for (size_t i = 0; i < callers; i++)
		if (function_is_unknown(symbols_get(seen->symbols, stack->functions[i]))) {
			seen->weight += stack->weight;
			return;
		}
}

/* Where rows are no functions, another table tells. */
static void tell_unnamed(struct profile *profile, const struct epoch *epoch)
{
	struct seen_callers seen = { .symbols = epoch->inputs.symbols };
	struct question question = profile->question;
	bool own = question.by == GROUP_FUNCTION, callers = false;
	struct table *table = profile->table;

	question.by = GROUP_FUNCTION;
	question.callers = false;
	question.inlined = false;
	question.reader = QUERY_ANYBODY;
	if (!own)
		table = query_table(epoch->query, &question);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];

		if (!function_is_unknown(symbols_get(epoch->inputs.symbols, row->function)))
			continue;
		profile->unnamed += row->self;
		callers |= row->total > row->self;
	}
	if (!own)
		table_free(table);
	if (callers && query_stacks(epoch->query, &question, see_callers, &seen))
		profile->unnamed_callers = seen.weight;
}

double profile_unnamed_callers(const struct profile *profile)
{
	double share = profile->unnamed_callers ? (double)profile->unnamed_callers / (double)profile->table->weight : 0;

	return 100 * share >= PROFILE_TOLD_PERCENT ? share : 0;
}

/* Draws samples of the kernel's code evenly, by their weight. Returns how many. */
static uint32_t draw(const struct address_sums *sums, struct symbols_sampled sampled[SYMBOLS_KEPT])
{
	uint64_t weight = 0, samples = 0, passed = 0;
	uint32_t count, drawn = 0;

	for (size_t i = 0; i < sums->count; i++)
		if (sums->sums[i].space == EVENT_KERNEL) {
			weight += sums->sums[i].weight;
			samples += sums->sums[i].samples;
		}
	count = samples < SYMBOLS_KEPT ? (uint32_t)samples : SYMBOLS_KEPT;
	for (size_t i = 0; i < sums->count; i++) {
		const struct address_sum *sum = &sums->sums[i];

		if (sum->space != EVENT_KERNEL)
			continue;
		passed += sum->weight;
		for (; drawn < count && (unsigned __int128)weight * drawn < (unsigned __int128)passed * count; drawn++)
			sampled[drawn] = (struct symbols_sampled) { sum->address, sum->space };
	}
	return drawn;
}

/* The filter does not apply: it is about the kernel's file. */
static void tell_outside(struct profile *profile, const struct epoch *epoch)
{
	struct question question = {
		.from = profile->question.from, .to = profile->question.to, .fine = profile->question.fine,
		.reader = QUERY_ANYBODY,
	};
	struct address_sums sums = query_addresses(epoch->query, &question, NULL, 0);
	struct symbols_sampled sampled[SYMBOLS_KEPT];

	symbols_outside_note(epoch->inputs.symbols, sampled, draw(&sums, sampled), profile->outside);
	address_sums_clear(&sums);
}

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct profile_request *request = (const struct profile_request *)asked;
	const struct epoch *epoch = moment->epoch;
	struct profile *profile = util_alloc(sizeof(*profile));

	profile->answer = answer_begin(&profile_kind, moment);
	if (!epoch)
		return &profile->answer;
	profile->question = excerpt_question(epoch, &asked->excerpt);
	profile->question.reader = moment->readers[0];
	profile->question.callers = request->callers && profile->question.by == GROUP_FUNCTION;
	profile->question.inlined = request->inlined;
	profile->question.lines = request->lines;
	profile->table = query_table(epoch->query, &profile->question);
	tell_unnamed(profile, epoch);
	tell_outside(profile, epoch);
	tell_gaps(profile, epoch);
	if (!moment->past)
		tell_books(profile, moment);
	if (request->inlined)
		profile->unread = query_unread(epoch->query, &profile->question);
	profile->answer.begun = profile->sampled;
	profile->answer.partial = !lines_known(profile->table, epoch->inputs.symbols) || profile->unread ||
		profile->table->unread;
	return &profile->answer;
}

static void free_answer(struct answer *answer)
{
	struct profile *profile = (struct profile *)answer;

	table_free(profile->table);
	free(profile->books);
}

const struct answer_kind profile_kind = {
	.name = "profile", .request_size = sizeof(struct profile_request), .questions = 1,
	.make = make, .free = free_answer,
};
