/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "match.h"
#include "scan.h"
#include "stop.h"

_Static_assert((uint32_t)(STACKS_NONE + SCAN_NODES) == SCAN_UNKNOWN, "a sample without a stack has a place");

enum {
	AHEAD = 64,			/* counts */
	SEEN_CPUS = 16,			/* with more of them, their sums would take too much memory */
	HOLDING = 4,			/* runs are held while 1 / HOLDING of the budget is left, */
	KEEPING = 2,			/* and scans that are not in use are kept while 1 / KEEPING is */
};

static size_t place_size(void)
{
	return sizeof(struct scan_sum) + sizeof(uint32_t);
}

static size_t below_size(void)
{
	return sizeof(uint64_t) + sizeof(uint32_t);
}

static void free_cpus(struct scan *scan)
{
	budget_free(scan->budget, scan->cpus, (size_t)scan->room * scan->words * sizeof(*scan->cpus));
	scan->cpus = NULL;
	scan->words = 0;
}

static void free_seen(struct scan *scan)
{
	budget_free(scan->budget, scan->seen, (size_t)scan->seen_room * scan->seen_cpus * sizeof(*scan->seen));
	scan->seen = NULL;
	scan->seen_room = scan->seen_cpus = 0;
}

static void free_pairs(struct scan *scan)
{
	struct scan_pairs *pairs = &scan->pairs;

	hash_clear(&pairs->by_pair);
	budget_free(scan->budget, pairs->list, pairs->room * sizeof(*pairs->list));
	budget_free(scan->budget, pairs->rows, pairs->row_count * sizeof(*pairs->rows));
	*pairs = (struct scan_pairs) { .refused = 0 };
	scan->has_pairs = false;
}

/* The own sums are of nothing then. */
static void begin_anew(struct scan *scan)
{
	while (scan->run_count)
		run_release(scan->runs[--scan->run_count].run);
	while (scan->ran_count) {
		uint32_t place = scan->ran[--scan->ran_count];

		scan->own[place] = (struct scan_sum) { 0 };
		if (place < scan->seen_room)
			memset(&scan->seen[(size_t)place * scan->seen_cpus], 0,
				scan->seen_cpus * sizeof(*scan->seen));
	}
	scan->whole = (struct scan_whole) { .weight = 0 };
	scan->has_own = scan->has_totals = false;
	if (scan->by_who)
		free_pairs(scan);
}

void scan_clear(struct scan *scan)
{
	begin_anew(scan);
	free_cpus(scan);
	free_seen(scan);
	free_pairs(scan);
	budget_give(scan->budget, scan->room * place_size() + scan->below_room * below_size() +
		scan->run_room * sizeof(*scan->runs));
	who_table_release(scan->whos);
	free(scan->runs);
	free(scan->own);
	free(scan->ran);
	free(scan->totals);
	free(scan->rows);
	*scan = (struct scan) { .budget = scan->budget, .number = scan->number };
}

void scan_begin(struct scan *scan, const struct window *window, bool by_who)
{
	bool same = scan->window == window && scan->by_who == by_who;

	if (same && scan->looked == window->looked)
		return;
	if (!same || scan->renewed != window->renewed)
		begin_anew(scan);
	if (!by_who || !scan->by_who)
		free_pairs(scan);
	if (by_who)			/* each who has a CPU of its own */
		free_seen(scan);
	scan->has_own = scan->has_totals = scan->has_cpus = false;
	scan->by_who = by_who;
	scan->window = window;
	scan->looked = window->looked;
	scan->renewed = window->renewed;
}

/* ---- pairs ---- */

static bool have_row(struct scan_pairs *pairs, struct budget *budget, uint32_t row)
{
	uint32_t count = row + row / 4 + 256;
	struct scan_row *rows;

	if (row < pairs->row_count)
		return true;
	rows = budget_resize(budget, pairs->rows, pairs->row_count * sizeof(*rows), count * sizeof(*rows));
	if (!rows)
		return false;
	memset(rows + pairs->row_count, 0xff, (count - pairs->row_count) * sizeof(*rows));
	pairs->rows = rows;
	pairs->row_count = count;
	return true;
}

/* NULL: there is no memory. */
static struct scan_pair *have_pair(struct scan_pairs *pairs, struct budget *budget, uint32_t row, uint32_t function)
{
	uint64_t value = hash_pair(&pairs->by_pair, row, function);
	uint32_t at = 0, position;
	struct scan_pair *list;

	while ((position = hash_next(&pairs->by_pair, value, &at)) != HASH_NONE)
		if (pairs->list[position].row == row && pairs->list[position].function == function)
			return &pairs->list[position];
	if (!have_row(pairs, budget, row))
		return NULL;
	list = budget_array(budget, pairs->list, pairs->count, &pairs->room, sizeof(*list));
	pairs->list = list ? list : pairs->list;
	if (!list || !hash_add(&pairs->by_pair, value, pairs->count))
		return NULL;
	list[pairs->count] = (struct scan_pair) { .row = row, .function = function, .next = pairs->rows[row].first };
	pairs->rows[row].first = pairs->count;
	return &list[pairs->count++];
}

static void add_pair(struct scan *scan, uint32_t row, uint32_t function, uint64_t weight)
{
	struct scan_pairs *pairs = &scan->pairs;
	struct scan_pair *pair;

	if (!pairs->by_pair.size && !pairs->count)
		hash_init(&pairs->by_pair, scan->budget);
	pair = have_pair(pairs, scan->budget, row, function);
	if (pair)
		pair->weight += weight;
	else
		pairs->refused++;
}

static bool is_heavier(const struct scan_pair *a, const struct scan_pair *b)
{
	return a->weight != b->weight ? a->weight > b->weight : a->function < b->function;
}

/* The heaviest pair of each row. */
static void find_heaviest(struct scan_pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->row_count; i++)
		pairs->rows[i].heaviest = HASH_NONE;
	pairs->empty = 0;
	for (uint32_t i = 0; i < pairs->count; i++) {
		const struct scan_pair *pair = &pairs->list[i];
		uint32_t *heaviest = &pairs->rows[pair->row].heaviest;

		pairs->empty += !pair->weight;
		if (pair->weight && (*heaviest == HASH_NONE || is_heavier(pair, &pairs->list[*heaviest])))
			*heaviest = i;
	}
}

/* ---- what ran ---- */

/* Charges without asking: some bytes for each node, or number of who, which are bounded. */
static void make_room(struct scan *scan, uint32_t count)
{
	uint32_t room = count + count / 4 + 1024;

	scan->count = count;
	if (count <= scan->room)
		return;
	free_cpus(scan);
	budget_charge(scan->budget, (room - scan->room) * place_size());
	scan->own = util_grow(scan->own, room, sizeof(*scan->own));
	memset(scan->own + scan->room, 0, (room - scan->room) * sizeof(*scan->own));
	scan->ran = util_grow(scan->ran, room, sizeof(*scan->ran));
	scan->room = room;
}

static void make_room_below(struct scan *scan)
{
	if (scan->below_room == scan->room)
		return;
	budget_charge(scan->budget, (scan->room - scan->below_room) * below_size());
	scan->totals = util_grow(scan->totals, scan->room, sizeof(*scan->totals));
	scan->rows = util_grow(scan->rows, scan->room, sizeof(*scan->rows));
	scan->below_room = scan->room;
}

/* Not out of what the store leaves to others: samples are worth more than their CPUs. */
static void *cpu_memory(const struct scan *scan, size_t size)
{
	return budget_left(scan->budget) / 2 >= size ? budget_resize(scan->budget, NULL, 0, size) : NULL;
}

static void make_cpus(struct scan *scan, uint32_t count)
{
	uint32_t words = (count + 63) / 64;

	words = words < SCAN_WORDS_MAX ? words : SCAN_WORDS_MAX;
	if (words != scan->words) {
		free_cpus(scan);
		scan->cpus = cpu_memory(scan, (size_t)scan->room * words * sizeof(*scan->cpus));
		scan->words = scan->cpus ? words : 0;
	}
	if (scan->words)
		memset(scan->cpus, 0, (size_t)scan->count * scan->words * sizeof(*scan->cpus));
}

/* False: there are too many CPUs to sum up each, or no memory. */
static bool have_seen(struct scan *scan, uint32_t cpus)
{
	if (scan->seen && cpus <= scan->seen_cpus && scan->seen_room == scan->room)
		return true;
	begin_anew(scan);
	free_seen(scan);
	cpus = cpus > 4 ? (cpus + 3) / 4 * 4 : 4;
	if (cpus <= SEEN_CPUS)
		scan->seen = cpu_memory(scan, (size_t)scan->room * cpus * sizeof(*scan->seen));
	if (!scan->seen)
		return false;
	scan->seen_room = scan->room;
	scan->seen_cpus = cpus;
	memset(scan->seen, 0, (size_t)scan->seen_room * scan->seen_cpus * sizeof(*scan->seen));
	return true;
}

/* Where a count goes, and who ran it. */
struct counted {
	struct run_count count;
	const struct who *who;
	uint32_t place;
};

/* `sign`: 1, or -1 for what is taken away. */
static inline void add_count(struct scan *scan, const struct counted *counted, uint64_t sign, uint32_t words)
{
	uint64_t weight = sign * counted->count.weight, samples = sign * counted->count.samples;
	struct scan_sum *sum = &scan->own[counted->place];
	uint32_t cpu = counted->who->cpu;

	if (!sum->samples)
		scan->ran[scan->ran_count++] = counted->place;
	sum->weight += weight;
	sum->samples += samples;
	if (cpu < scan->seen_cpus)
		scan->seen[(size_t)counted->place * scan->seen_cpus + cpu] += (uint32_t)samples;
	if (cpu < 64 * words)
		scan->cpus[(size_t)counted->place * words + cpu / 64] |= UINT64_C(1) << cpu % 64;
	scan->whole.weight += weight;
	scan->whole.samples += samples;
	scan->whole.mode[counted->who->mode] += weight;
}

/* The function that a count ran. */
static uint32_t ran_in(const struct match *match, const struct run_count *count)
{
	return count->stack == STACKS_NONE ? match->unknown : match->functions[count->stack];
}

/* Where the last count of the reader goes. By who, its pair gets the weight. */
static uint32_t place_of(struct scan *scan, const struct match_reader *reader, const struct counted *counted,
	uint64_t sign)
{
	const struct run_count *count = &counted->count;

	if (!scan->by_who)
		return counted->who->mode == MODE_IDLE ? SCAN_IDLE : count->stack + SCAN_NODES;
	if (scan->has_pairs && counted->who->mode != MODE_IDLE)
		add_pair(scan, match_row(reader, count->who), ran_in(reader->match, count), sign * count->weight);
	return SCAN_NODES + count->who * scan->contexts + reader->context;
}

/* Reads counts ahead, so that the memory of their sums is fetched at the same time. */
static void add_run(struct scan *scan, const struct match *match, const struct scan_run *run, uint64_t sign,
	uint32_t words)
{
	struct match_reader reader = match_begin(match, run->run);
	uint64_t before = scan->whole.weight;
	struct counted ahead[AHEAD];
	size_t count;

	do {
		for (count = 0; count < AHEAD; count++) {
			struct counted *next = &ahead[count];

			if (!match_next(&reader, &next->count, &next->who))
				break;
			next->place = place_of(scan, &reader, next, sign);
			__builtin_prefetch(&scan->own[next->place], 1);
			if (scan->seen)
				__builtin_prefetch(&scan->seen[(size_t)next->place * scan->seen_cpus], 1);
			else if (words)
				__builtin_prefetch(&scan->cpus[(size_t)next->place * words], 1);
		}
		for (size_t i = 0; i < count; i++)
			add_count(scan, &ahead[i], sign, words);
	} while (count == AHEAD);
	scan->whole.time += (scan->whole.weight - before) * run->period;
}

/* ---- the runs of a range ---- */

/* The mark of a run that is summed up is its index. */
static bool is_summed(const struct scan *scan, const struct run *run)
{
	uint32_t mark = run->marks[scan->number];

	return mark < scan->run_count && scan->runs[mark].run == run;
}

/* Finds out which of the runs stay. True: to add what has come and to take away what has left is less than all. */
static bool meet_runs(struct scan *scan, const struct window *window)
{
	struct slices slices = window_slices(window);
	uint64_t held = 0, stay = 0;
	struct slice slice;

	while (slices_next(&slices, &slice))
		for (size_t k = 0; k < slice.run_count; k++)
			if (is_summed(scan, slice.runs[k])) {
				scan->runs[slice.runs[k]->marks[scan->number]].looked = scan->looked;
				stay += slice.runs[k]->counts;
			}
	for (uint32_t i = 0; i < scan->run_count; i++)
		held += scan->runs[i].run->counts;
	return held < 2 * stay;
}

static void take_away(struct scan *scan, const struct match *match)
{
	uint32_t runs = 0, ran = 0;

	for (uint32_t i = 0; i < scan->run_count; i++) {
		struct scan_run *run = &scan->runs[i];

		if (run->looked == scan->looked) {
			run->run->marks[scan->number] = runs;
			scan->runs[runs++] = *run;
			continue;
		}
		add_run(scan, match, run, UINT64_MAX, 0);
		run_release(run->run);
	}
	scan->run_count = runs;
	for (uint32_t i = 0; i < scan->ran_count; i++)
		if (scan->own[scan->ran[i]].samples)
			scan->ran[ran++] = scan->ran[i];
	scan->ran_count = ran;
}

/* Charges without asking: some bytes for each run. */
static void add_new(struct scan *scan, const struct match *match, struct run *run, uint64_t period, uint32_t words)
{
	uint32_t room = scan->run_room;

	if (scan->run_count == room) {
		scan->run_room = 2 * room + 1024;
		budget_charge(scan->budget, (scan->run_room - room) * sizeof(*scan->runs));
		scan->runs = util_grow(scan->runs, scan->run_room, sizeof(*scan->runs));
	}
	run->marks[scan->number] = scan->run_count;
	scan->runs[scan->run_count] = (struct scan_run) { run_hold(run), period, scan->looked };
	add_run(scan, match, &scan->runs[scan->run_count++], 1, words);
}

void scan_spare(struct scan *scan, bool in_use)
{
	if (budget_left(scan->budget) >= budget_share(scan->budget, in_use ? HOLDING : KEEPING))
		return;
	if (!in_use)
		scan_clear(scan);
	else if (scan->run_count)
		begin_anew(scan);
}

void scan_own(struct scan *scan, struct window *window, bool cpus)
{
	const struct match match = window_match(window);
	bool pairs = scan->by_who && window->question.callers;
	struct slices slices = window_slices(window);
	struct slice slice;
	uint32_t words = 0;

	if (scan->has_own && scan->has_cpus >= cpus && (!pairs || scan->has_pairs))
		return;
	if (scan->contexts != (match.contexts ? CONTEXTS : 1)) {
		begin_anew(scan);
		scan->contexts = match.contexts ? CONTEXTS : 1;
	}
	make_room(scan, SCAN_NODES + (scan->by_who ? scan->contexts * who_table_count(window->who_table) :
		stacks_nodes(window->inputs.stacks)));	/* nodes without a function, too */
	scan->has_cpus = (cpus || scan->seen) && have_seen(scan, window->cpus);
	if (scan->whos != window->who_table || (cpus && !scan->has_cpus) ||
			(scan->by_who && (pairs != scan->has_pairs || scan->pairs.refused ||
			scan->pairs.empty > scan->pairs.count / 2)) ||
			!meet_runs(scan, window))
		begin_anew(scan);
	if (pairs)
		scan->has_pairs = true;
	if (cpus && !scan->has_cpus) {		/* bits are not taken away */
		make_cpus(scan, window->cpus);
		words = scan->words;
	}
	if (scan->whos != window->who_table) {
		who_table_release(scan->whos);
		scan->whos = who_table_hold(window->who_table);
	}
	take_away(scan, &match);
	while (slices_next(&slices, &slice))
		for (size_t k = 0; k < slice.run_count; k++)
			if (!is_summed(scan, slice.runs[k]))
				add_new(scan, &match, slice.runs[k], slice.period, words);
	if (stop_now(window->stop))
		begin_anew(scan);
	if (scan->by_who)
		find_heaviest(&scan->pairs);
	scan->whole.missed = window->missed;
	scan->has_own = !stop_now(window->stop);
	scan->has_cpus = scan->has_cpus || cpus;
	scan->has_totals = false;
}

/* ---- what is below ---- */

/* Callers have lower numbers than those they call. */
static void add_below(struct scan *scan, struct window *window, uint32_t words)
{
	const struct node *nodes = stacks_list(window->inputs.stacks);
	const uint32_t *functions = window->nodes->functions;
	bool by_function = window->question.by == GROUP_FUNCTION;

	memset(scan->totals, 0, scan->count * sizeof(*scan->totals));
	for (uint32_t place = scan->count; place-- > SCAN_NODES;) {
		uint32_t id = place - SCAN_NODES, above = nodes[id].parent + SCAN_NODES;

		scan->totals[place] += scan->own[place].weight;
		if (!scan->totals[place])
			continue;
		scan->rows[place] = by_function ? functions[id] : grouping_frame(&window->grouping, id, functions[id]);
		if (above == SCAN_UNKNOWN)
			continue;
		scan->totals[above] += scan->totals[place];
		for (uint32_t word = 0; word < words; word++)
			scan->cpus[(size_t)above * words + word] |= scan->cpus[(size_t)place * words + word];
	}
	scan->totals[SCAN_IDLE] = scan->own[SCAN_IDLE].weight;
	scan->totals[SCAN_UNKNOWN] = scan->own[SCAN_UNKNOWN].weight;
	scan->rows[SCAN_IDLE] = window->idle;
	scan->rows[SCAN_UNKNOWN] = window->unknown;
}

/* The bits of the CPUs where anything ran that is summed up. */
static void set_cpus(struct scan *scan)
{
	make_cpus(scan, scan->seen_cpus);
	for (uint32_t i = 0; scan->words && i < scan->ran_count; i++)
		for (uint32_t cpu = 0; cpu < scan->seen_cpus; cpu++)
			if (scan->seen[(size_t)scan->ran[i] * scan->seen_cpus + cpu])
				scan->cpus[scan->ran[i]] |= UINT64_C(1) << cpu;
}

void scan_totals(struct scan *scan, struct window *window, bool cpus)
{
	scan_own(scan, window, cpus);
	if (scan->has_totals && scan->has_cpus_below >= cpus)
		return;
	make_room_below(scan);
	if (cpus && scan->seen)
		set_cpus(scan);
	add_below(scan, window, cpus ? scan->words : 0);
	scan->has_totals = true;
	scan->has_cpus_below = cpus;
}

/* ---- pairs of nodes ---- */

/* By line, the function that a node is in; else its caller's row. FUNCTION_NONE: it is not known. */
static uint32_t other_of(const struct scan *scan, const struct window *window, const struct node *nodes, uint32_t id)
{
	if (window->question.by == GROUP_LINE)
		return window->nodes->functions[id];
	return nodes[id].parent == STACKS_NONE || nodes[id].cut ? FUNCTION_NONE :
		scan->rows[nodes[id].parent + SCAN_NODES];
}

/* Each stack counts once, however often it has the pair: where no node above has it. */
static bool is_outermost(const struct scan *scan, const struct window *window, const struct node *nodes, uint32_t id,
	uint32_t other)
{
	for (uint32_t above = nodes[id].parent; above != STACKS_NONE; above = nodes[above].parent)
		if (scan->rows[above + SCAN_NODES] == scan->rows[id + SCAN_NODES] &&
				other_of(scan, window, nodes, above) == other)
			return false;
	return true;
}

void scan_node_pairs(struct scan *scan, struct window *window, uint32_t of)
{
	const struct node *nodes = stacks_list(window->inputs.stacks);

	if (scan->has_pairs && (scan->pairs_of == FUNCTION_NONE || scan->pairs_of == of))
		return;
	free_pairs(scan);
	scan_totals(scan, window, false);
	for (uint32_t i = 0; i < scan->count - SCAN_NODES; i++) {
		uint32_t row = scan->rows[i + SCAN_NODES], other;

		if (!scan->totals[i + SCAN_NODES] || (of != FUNCTION_NONE && row != of))
			continue;
		other = other_of(scan, window, nodes, i);
		if (other != FUNCTION_NONE && is_outermost(scan, window, nodes, i, other))
			add_pair(scan, row, other, scan->totals[i + SCAN_NODES]);
	}
	find_heaviest(&scan->pairs);
	scan->has_pairs = scan->has_own;
	scan->pairs_of = of;
}

/* ---- what a question is about ---- */

void window_init(struct window *window, const struct query_inputs *inputs, struct node_functions *nodes)
{
	*window = (struct window) {
		.inputs = *inputs,
		.all = *inputs,
		.nodes = nodes,
		.store_version = UINT64_MAX,
		.whos = { .budget = inputs->budget },
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

void window_clear(struct window *window)
{
	stack_filter_clear(&window->stack_filter);
	grouping_clear(&window->grouping);
	whos_clear(&window->whos);
	who_table_release(window->who_table);
}

/* By node; NULL: the question does not ask for modes within the kernel's. */
static const uint8_t *contexts_of(struct window *window)
{
	if (window->question.by != GROUP_MODE && filter_lacks(&window->question.filter, FILTER_MODE))
		return NULL;
	return node_functions_contexts(window->nodes, window->inputs.stacks, window->inputs.symbols, window->stop);
}

/* The table is held, so that no other one has the same list while something is remembered of it. */
static void meet_whos(struct window *window)
{
	struct who_table *table = store_whos(window->inputs.store);

	whos_meet(&window->whos, who_table_list(table), who_table_count(table));
	if (table == window->who_table)
		return;
	who_table_release(window->who_table);
	window->who_table = who_table_hold(table);
}

struct match window_match(struct window *window)
{
	meet_whos(window);
	return (struct match) {
		.filter = &window->question.filter, .stack_filter = &window->stack_filter,
		.threads = window->inputs.threads, .functions = window->nodes->functions,
		.contexts = contexts_of(window), .whos = &window->whos, .grouping = &window->grouping,
		.idle = window->idle, .unknown = window->unknown, .stop = window->stop,
	};
}

/* Makes all that was remembered of samples anew. */
static void forget(struct window *window)
{
	window->renewed++;
	window->store_version = UINT64_MAX;
}

static void follow_names(struct window *window)
{
	node_functions_update(window->nodes, window->inputs.stacks, window->inputs.symbols, window->stop);
	if (window->renamed != window->nodes->renamed) {
		window->renamed = window->nodes->renamed;
		window->renewed++;
		if (window->question.by == GROUP_LINE)	/* other names, other objects: their lines may be known */
			grouping_clear(&window->grouping);
		window->stack_filter.node_count = 0;
	}
	stack_filter_meet(&window->stack_filter, window->nodes->functions, window->nodes->count);
}

/* Do the names of threads and processes decide what the answer is? */
static bool has_threads(const struct question *question)
{
	return grouping_has_threads(question->by) || !filter_lacks(&question->filter, FILTER_THREAD) ||
		!filter_lacks(&question->filter, FILTER_COMM) || !filter_lacks(&question->filter, FILTER_PROCESS);
}

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
	if (!same || renamed || window->question.by != question->by) {
		window->renewed++;
		whos_clear(&window->whos);
	}
}

/* Returns a hash of what they are. */
static uint64_t meet_slices(struct window *window)
{
	struct slices slices = window_slices(window);
	struct slice slice;
	uint64_t hash = 0;

	window->missed = 0;
	window->cpus = 0;
	window->covered = (struct range) { UINT64_MAX, 0 };
	while (slices_next(&slices, &slice)) {
		window->covered.from = slice.begin < window->covered.from ? slice.begin : window->covered.from;
		window->covered.to = slice.end;
		hash = hash_mix(hash ^ slice.begin, slice.end);
		hash = hash_mix(hash ^ slice.version, UINT64_C(0x9e3779b97f4a7c15));
		window->cpus = slice.cpus->count > window->cpus ? slice.cpus->count : window->cpus;
		for (uint32_t cpu = 0; cpu < slice.cpus->count; cpu++) {
			const struct cpu_sums *sums = cpus_get(slice.cpus, cpu);

			if (sums && sums->missed && filter_passes_cpu(&window->question.filter, cpu))
				window->missed += sums->missed;
		}
	}
	return hash;
}

static bool is_answered(const struct window *window, const struct question *question)
{
	return question->from == window->question.from && question->to == window->question.to &&
		question->by == window->question.by &&
		filter_same(&question->filter, &window->question.filter) &&
		window->store_version == store_version(window->inputs.store) &&
		window->nodes->generation == symbols_generation(window->inputs.symbols) &&
		window->renamed == window->nodes->renamed &&
		window->threads_generation == threads_generation(window->inputs.threads);
}

void window_look(struct window *window, const struct question *question)
{
	struct store *store = filter_store(&question->filter, &window->all);
	uint64_t now, slices, renewed = window->renewed;

	if (store != window->inputs.store)	/* nothing that was made of another one is of use */
		forget(window);
	window->inputs.store = store;
	now = store_now(window->inputs.store);
	store_settle(window->inputs.store);
	if (grouping_changed(&window->grouping) || stack_filter_changed(&window->stack_filter))
		forget(window);
	if (is_answered(window, question)) {
		window->question = *question;
		return;
	}
	follow_question(window, question);
	window->question = *question;
	window->store_version = store_version(window->inputs.store);
	follow_names(window);
	window->to = question->to < now ? question->to : now;
	slices = meet_slices(window);
	if (slices != window->slices || renewed != window->renewed)
		window->looked++;
	window->slices = slices;
	if (stop_now(window->stop)) {
		node_functions_forget(window->nodes);
		forget(window);
	}
}

struct range window_range(const struct window *window)
{
	const struct store *store = window->inputs.store;
	uint64_t now = store_now(store), end = window->covered.to, from = window->question.from;
	struct range range = { .from = from < window->to ? from : window->to, .to = window->to };
	struct slices after;
	struct slice next;

	if (window->question.fine)
		return (struct range) { window->question.from, window->question.to };
	if (window_is_empty(window))
		return range;
	range.from = window->covered.from;
	after = slices_in(store, range.to, UINT64_MAX, false);
	if (end > range.to)
		range.to = end < now ? end : now;
	else if (slices_next(&after, &next) && next.begin < range.to)
		range.to = next.begin;
	return range;
}
