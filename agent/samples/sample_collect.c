/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/query/stop.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/run.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "kept_paths.h"
#include "sample_collect.h"
#include "sample_set.h"

enum {
	DEPTH_MAX = 128,		/* both walks of a sample */
	MANY = 16,			/* with so many times `most` nodes, light ones are merged at once */
	FRAME_BYTES = 400, SUM_BYTES = 200,	/* of memory that a picture takes, at most: of each */
};

#define NOBODY 0xfffffffeu

struct seen_thread {			/* as samples name it */
	uint32_t thread, process;
	uint32_t index;			/* in the set */
};

struct set_threads {			/* those that samples name, each once */
	struct sample_set *set;
	struct threads *names;
	struct budget *budget;		/* borrowed, as the others */
	struct seen_thread *list;
	uint32_t count, room;
	struct hash by_who;
};

struct log_rows {			/* from rows of the log to those of the set */
	const struct sample_set *set;
	struct sample_log *log;
	struct budget *budget;
	uint32_t *stacks;		/* by node: its stack in the set; SET_NONE: not in the set */
	uint8_t *contexts;		/* by node: enum context */
	uint32_t *threads;		/* by who of the log: its thread in the set; NOBODY: not in it */
	uint32_t nodes, whos;
	uint32_t idle, unknown;		/* stacks of idle time, and of samples without one */
	uint64_t from, to;		/* the other rows are left out: [from, to) */
};

struct set_rows {			/* a reader of them */
	const struct log_rows *rows;
	struct sample_log_reader *reader;
};

struct log_events {
	struct sample_log *log;
	struct budget *budget;
	struct filter filter;
	uint64_t from, to;
	struct set_event_kind *kinds;	/* as in the log */
	uint32_t *stacks;		/* as in struct log_rows */
	uint32_t nodes;
};

struct set_events {			/* a reader of them */
	const struct log_events *events;
	struct trace_log_reader *reader;
	uint64_t lost[EVENT_CPUS];	/* events that were lost before the range, perhaps in it */
	struct trace_log_row held;	/* comes next, behind such a loss */
	bool has_held;
};

struct collecting {
	const struct sample_collect *how;
	const struct query_inputs *inputs;
	struct window *window;
	struct sample_set *set;
	struct set_code code;		/* puts functions and lines into the set */
	struct set_threads threads;	/* likewise, threads */
	uint32_t *stack_of;		/* by node; SET_NONE: not made yet */
	uint32_t *path_of;		/* by node, of those that are kept; SET_NONE: of none of them. NULL: all are */
	uint32_t nodes;
	const uint8_t *contexts;	/* by node */
	uint32_t idle, unknown;		/* the stacks of these functions; SET_NONE: not made yet */
	bool merges, weighs;		/* light stacks are merged, and threads; which are light is being found out */
	struct light_stacks light;
	uint32_t merged;		/* nodes that do not stand alone */
	struct row_list *rows;		/* NULL: none are wanted */
	uint64_t period, grain;
	uint64_t from, to;		/* of the log */
	uint64_t first, last;		/* the times of its first and last row; UINT64_MAX and 0: there is none */
	bool full;
	bool failed;			/* the log's file could not be read */
};

/* ---- stacks ---- */

static uint32_t add_node(struct collecting *all, uint32_t id, uint32_t parent)
{
	struct node node = stacks_node(all->inputs->stacks, id);
	struct set_line lines[SET_CODE_LINES];
	uint32_t function = all->window->nodes->functions[id];
	uint32_t count = set_code_lines(&all->code, &node, function, lines);
	uint32_t object = set_code_object(&all->code, &node, function);

	return sample_set_stack(all->set, parent, sample_set_location(all->set, node.address, object, lines, count),
		node.cut);
}

static const char *name_of(const struct collecting *all, const struct set_line *line)
{
	return line->function == SET_NONE ? "" : all->set->functions[line->function].name;
}

/* The stack of all light ones below another one. */
static uint32_t add_merged(struct collecting *all, uint32_t parent)
{
	const struct set_line line = { .function = sample_set_function(all->set, &kept_paths_merged) };

	return sample_set_stack(all->set, parent, sample_set_location(all->set, 0, SET_NONE, &line, 1), false);
}

/* Those functions of a node that are in kept paths, the outermost ones; the others, if there are any, are merged. */
static uint32_t add_kept(struct collecting *all, uint32_t id, uint32_t path, uint32_t parent)
{
	struct node node = stacks_node(all->inputs->stacks, id);
	struct set_line lines[SET_CODE_LINES];
	uint32_t count = set_code_lines(&all->code, &node, all->window->nodes->functions[id], lines);
	uint32_t left = count, found;

	while (left && (found = kept_paths_find(all->how->kept, path, name_of(all, &lines[left - 1]))) != SET_NONE) {
		path = found;
		lines[--left].line = 0;		/* else there were a stack for each line */
	}
	all->path_of[id] = left ? SET_NONE : path;
	if (left < count)
		parent = sample_set_stack(all->set, parent,
			sample_set_location(all->set, 0, SET_NONE, lines + left, count - left), false);
	return left ? add_merged(all, parent) : parent;
}

/* The stack of a node below its caller's, which is `above`. */
static uint32_t add_kept_or_merged(struct collecting *all, uint32_t id, uint32_t above, uint32_t parent)
{
	uint32_t path = above == STACKS_NONE ? KEPT_ROOT : all->path_of[above];
	uint32_t stack = path == SET_NONE ? parent : add_kept(all, id, path, parent);

	all->merged += all->path_of[id] == SET_NONE;
	return stack;
}

static uint32_t add_whole_or_merged(struct collecting *all, uint32_t id, uint32_t above, uint32_t parent)
{
	if (!light_stacks_has(&all->light, id))
		return add_node(all, id, parent);
	all->merged++;
	return above == STACKS_NONE || !light_stacks_has(&all->light, above) ? add_merged(all, parent) : parent;
}

/* The stack of a node. Makes those of its callers first. */
static uint32_t stack_of(struct collecting *all, uint32_t leaf)
{
	uint32_t path[DEPTH_MAX], depth = 0, id = leaf, parent = SET_NONE;

	while (id != STACKS_NONE && all->stack_of[id] == SET_NONE && depth < DEPTH_MAX) {
		path[depth++] = id;
		id = stacks_node(all->inputs->stacks, id).parent;
	}
	if (id != STACKS_NONE)
		parent = all->stack_of[id];
	while (depth-- > 0 && !sample_set_is_full(all->set)) {
		parent = all->path_of ? add_kept_or_merged(all, path[depth], id, parent) :
			add_whole_or_merged(all, path[depth], id, parent);
		id = path[depth];
		all->stack_of[id] = parent;
	}
	return parent;
}

/* The stack of idle time, or of samples without one; made once. */
static uint32_t stack_special(struct collecting *all, uint32_t *stack, uint32_t function)
{
	struct set_line line = { .line = 0 };

	if (*stack != SET_NONE)
		return *stack;
	line.function = set_code_function(&all->code, function);
	*stack = sample_set_stack(all->set, SET_NONE, sample_set_location(all->set, 0, SET_NONE, &line, 1), false);
	return *stack;
}

/* ---- threads ---- */

static void set_threads_init(struct set_threads *threads, struct sample_set *set, struct threads *names,
	struct budget *budget)
{
	*threads = (struct set_threads) { .set = set, .names = names, .budget = budget };
	hash_init(&threads->by_who, budget);
}

static void set_threads_clear(struct set_threads *threads)
{
	budget_free(threads->budget, threads->list, threads->room * sizeof(*threads->list));
	hash_clear(&threads->by_who);
}

static uint64_t who_hash(const struct set_threads *threads, const struct who *who)
{
	return hash_pair(&threads->by_who, who->thread, who->process);
}

/* False: it was not put into the set. */
static bool set_threads_find(const struct set_threads *threads, const struct who *who, uint32_t *index)
{
	uint64_t hash = who_hash(threads, who);
	uint32_t at = 0, position;

	while ((position = hash_next(&threads->by_who, hash, &at)) != HASH_NONE) {
		const struct seen_thread *seen = &threads->list[position];

		if (seen->thread == who->thread && seen->process == who->process) {
			*index = seen->index;
			return true;
		}
	}
	return false;
}

static uint32_t add_thread(struct set_threads *threads, const struct who *who)
{
	uint32_t owner = threads_owner(threads->names, who->thread, who->process);

	return sample_set_thread(threads->set, &(struct set_thread) {
		.id = who->thread, .process = owner, .name = threads_name(threads->names, who->thread),
		.process_name = threads_process_name(threads->names, owner),
	});
}

/* Its index in the set. It is put there if it is new; false: there is no memory. */
static bool set_threads_have(struct set_threads *threads, const struct who *who, uint32_t *index)
{
	struct seen_thread *list;

	if (set_threads_find(threads, who, index))
		return true;
	list = budget_array(threads->budget, threads->list, threads->count, &threads->room, sizeof(*list));
	if (!list)
		return false;
	threads->list = list;
	if (!hash_add(&threads->by_who, who_hash(threads, who), threads->count))
		return false;
	*index = add_thread(threads, who);
	list[threads->count++] = (struct seen_thread) {
		.thread = who->thread, .process = who->process, .index = *index,
	};
	return true;
}

static bool is_unknown(const struct who *who)
{
	return who->thread == EVENT_NONE && who->process == EVENT_KERNEL;
}

static uint32_t thread_of(struct collecting *all, const struct who *who)
{
	uint32_t index = SET_NONE;

	if (!is_unknown(who) && !all->merges && !all->how->nobody)
		all->full = !set_threads_have(&all->threads, who, &index) || all->full;
	return index;
}

static uint32_t cpu_of(const struct collecting *all, const struct who *who)
{
	return who->cpu == WHO_NO_CPU || all->how->nobody ? SET_NONE : who->cpu;
}

/* ---- samples ---- */

static uint32_t add_count(struct collecting *all, const struct run_count *count, const struct who *who, uint64_t period)
{
	enum context context = count->stack == STACKS_NONE ? CONTEXT_UNTOLD : (enum context)all->contexts[count->stack];
	struct set_sum sum;

	if (all->weighs) {
		if (who->mode != MODE_IDLE)
			light_stacks_add(&all->light, count->stack, count->weight);
		return 0;
	}
	sum = (struct set_sum) {
		.who = { .thread = thread_of(all, who), .cpu = cpu_of(all, who),
			.mode = (uint8_t)context_mode(who, context) },
		.samples = count->samples, .weight = count->weight, .ns = count->weight * period,
	};

	if (who->mode == MODE_IDLE)
		sum.stack = stack_special(all, &all->idle, all->window->idle);
	else if (count->stack == STACKS_NONE)
		sum.stack = stack_special(all, &all->unknown, all->window->unknown);
	else
		sum.stack = stack_of(all, count->stack);
	return all->full || sample_set_is_full(all->set) ? SET_NONE : sample_set_add(all->set, &sum);
}

/* Its slice may have begun before the first sample could come. */
static uint64_t time_of(const struct collecting *all, const struct slice *slice)
{
	uint64_t from = all->how->facts->from;

	return from > slice->begin && from < slice->end ? from : slice->begin;
}

static void add_run(struct collecting *all, const struct match *match, const struct slice *slice,
	const struct run *run)
{
	struct match_reader reader = match_begin(match, run);
	struct run_count count;
	const struct who *who;
	uint64_t turn = 0;

	while (!all->full && !stop_at(all->window->stop, turn++) && match_next(&reader, &count, &who)) {
		struct set_row row = {
			.time = time_of(all, slice), .sum = add_count(all, &count, who, slice->period),
			.samples = count.samples, .weight = count.weight, .ns = count.weight * slice->period,
		};

		all->full = row.sum == SET_NONE || (all->rows && !all->weighs && !row_list_add(all->rows, &row));
	}
}

static void add_slices(struct collecting *all, const struct match *match)
{
	const struct window *window = all->window;
	struct slices slices = slices_in(window->inputs.store, window->question.from, window->question.to, true);
	struct slice slice;

	while (!all->full && slices_next(&slices, &slice)) {
		all->period = slice.period ? slice.period : all->period;
		if (slice.end - slice.begin > all->grain)
			all->grain = slice.end - slice.begin;
		for (size_t k = 0; k < slice.run_count && !all->full; k++)
			add_run(all, match, &slice, slice.runs[k]);
		all->full = all->full || stop_now(window->stop);
	}
}

/* The times of the question's slices. What came before the oldest that is kept counts, too. */
static void log_range(const struct window *window, uint64_t *from, uint64_t *to)
{
	const struct store *store = window->inputs.store;
	struct range range = window_range(window);
	struct slices after;
	struct slice next;

	*from = range.from;
	*to = range.to;
	if (window->question.fine)
		return;
	if (window->question.from == 0)
		*from = 0;
	after = slices_in(store, window->question.to, UINT64_MAX, false);
	*to = window->question.to != UINT64_MAX && slices_next(&after, &next) ? next.begin : UINT64_MAX;
	if (window_is_empty(window)) {	/* trace events may be in it */
		*from = window->question.from;
		*to = window->question.to;
	}
}

static void add_log(struct collecting *all, const struct match *match)
{
	struct sample_log *log = all->how->log;
	const struct who *list = who_table_list(sample_log_whos(log));
	struct sample_log_reader *rows = sample_log_open(log);
	struct whos whos = { .budget = all->inputs->budget };
	struct match of_log = *match;
	struct match_reader reader;
	struct log_row row;
	uint64_t turn = 0;

	log_range(all->window, &all->from, &all->to);
	whos_meet(&whos, list, who_table_count(sample_log_whos(log)));
	of_log.whos = &whos;
	reader = match_begin(&of_log, NULL);
	while (!all->full && sample_log_next(rows, &row)) {
		const struct run_count count = { .stack = row.stack, .samples = row.samples, .weight = row.weight };

		all->full = stop_at(all->window->stop, turn++);
		if (row.time < all->from || row.time >= all->to || !match_admits(&reader, row.stack, row.who))
			continue;
		all->period = row.period ? row.period : all->period;
		all->first = row.time < all->first ? row.time : all->first;
		all->last = row.time > all->last ? row.time : all->last;
		all->full = all->full || add_count(all, &count, &list[row.who], row.period) == SET_NONE;
	}
	all->failed = sample_log_failed(rows) || *sample_log_trouble(log);
	sample_log_close(rows);
	whos_clear(&whos);
}

/* Gaps have no thread and no mode: of a filter, only its CPUs count. */
static uint64_t missed(const struct sample_collect *how)
{
	uint32_t count = how->facts->cpus;
	struct cpu_series *cpus = util_grow(NULL, count + 1, sizeof(*cpus));
	uint64_t sum = 0;

	memset(cpus, 0, (count + 1) * sizeof(*cpus));
	query_cpus(how->query, how->question, cpus, count);
	for (uint32_t i = 0; i < count; i++)
		sum += filter_passes_cpu(&how->question->filter, i) ? cpus[i].missed : 0;
	free(cpus);
	return sum;
}

/* The range that the asker says, or else that of the slices; but with all rows of the log. */
static struct range told_range(const struct collecting *all)
{
	const struct set_facts *facts = all->how->facts;

	if (!facts->to)
		return window_range(all->window);
	return (struct range) {
		.from = facts->from < all->first ? facts->from : all->first,
		.to = facts->to > all->last ? facts->to : all->last,
	};
}

static void tell_facts(struct collecting *all)
{
	struct range range = told_range(all);
	struct set_facts facts = *all->how->facts;

	facts.from = range.from;
	facts.to = range.to;
	facts.period = all->period;
	facts.grain = all->grain;
	facts.merged = all->merged;
	facts.missed = missed(all->how);
	facts.off_cpu = filter_off_cpu(&all->how->question->filter);
	facts.events_lost += all->how->log ? trace_log_refused(sample_log_traces(all->how->log)) : 0;
	facts.lost += all->how->log ? sample_log_refused(all->how->log) :
		store_given_up(all->window->inputs.store);
	sample_set_tell(all->set, &facts);
}

static void add_samples(struct collecting *all, const struct match *match)
{
	if (all->how->log)
		add_log(all, match);
	else
		add_slices(all, match);
}

/* Finds out which stacks are light. False: no memory, or it was given up. */
static bool weigh(struct collecting *all, const struct match *match)
{
	if (!light_stacks_init(&all->light, all->nodes, all->inputs->budget))
		return false;
	all->weighs = true;
	add_samples(all, match);
	all->weighs = false;
	light_stacks_settle(&all->light, all->inputs->stacks, all->how->most);
	return !all->full;
}

/* False: there is no room for all. */
static bool collect(struct collecting *all)
{
	struct match match;
	size_t size;

	window_look(all->window, all->how->question);
	all->inputs = &all->window->inputs;
	all->code = (struct set_code) {
		.set = all->set, .symbols = all->inputs->symbols, .lines = all->how->lines,
	};
	all->nodes = stacks_nodes(all->inputs->stacks);
	size = all->nodes * sizeof(*all->stack_of);
	all->contexts = node_functions_contexts(all->window->nodes, all->inputs->stacks, all->inputs->symbols,
		all->window->stop);
	all->stack_of = budget_resize(all->inputs->budget, NULL, 0, size);
	if (!all->stack_of)
		return false;
	memset(all->stack_of, 0xff, size);
	if (all->how->kept) {
		all->path_of = budget_resize(all->inputs->budget, NULL, 0, size);
		if (!all->path_of)
			return false;
		memset(all->path_of, 0xff, size);
	}
	match = window_match(all->window);
	if (all->merges && !all->how->kept && !weigh(all, &match))
		return false;
	add_samples(all, &match);
	tell_facts(all);
	return !all->full && !sample_set_is_full(all->set);
}

static void clear(struct collecting *all)
{
	struct budget *budget = all->how->inputs->budget;

	budget_free(budget, all->stack_of, all->stack_of ? all->nodes * sizeof(*all->stack_of) : 0);
	budget_free(budget, all->path_of, all->path_of ? all->nodes * sizeof(*all->path_of) : 0);
	light_stacks_clear(&all->light);
	set_threads_clear(&all->threads);
}

/* ---- rows out of the log ---- */

static void *copy_array(struct budget *budget, const void *from, size_t size)
{
	void *to = budget_resize(budget, NULL, 0, size);

	return to && size ? memcpy(to, from, size) : to;
}

static void free_rows(void *context)
{
	struct log_rows *rows = context;

	budget_free(rows->budget, rows->stacks, rows->stacks ? rows->nodes * sizeof(*rows->stacks) : 0);
	budget_free(rows->budget, rows->threads, rows->threads ? rows->whos * sizeof(*rows->threads) : 0);
	budget_free(rows->budget, rows->contexts, rows->contexts ? rows->nodes : 0);
	sample_log_release(rows->log);
	budget_release(rows->budget);
	free(rows);
}

static struct set_rows *open_rows(void *context)
{
	struct set_rows *reader = util_alloc(sizeof(*reader));

	reader->rows = context;
	reader->reader = sample_log_open(reader->rows->log);
	return reader;
}

static uint32_t row_stack(const struct log_rows *rows, const struct log_row *row, const struct who *who)
{
	if (who->mode == MODE_IDLE)
		return rows->idle;
	if (row->stack == STACKS_NONE)
		return rows->unknown;
	return row->stack < rows->nodes ? rows->stacks[row->stack] : SET_NONE;
}

/* SET_NONE: it is not in the set. */
static uint32_t row_sum(const struct log_rows *rows, const struct log_row *row)
{
	const struct who who = who_table_list(sample_log_whos(rows->log))[row->who];
	uint32_t stack = row_stack(rows, row, &who);
	enum context context = row->stack < rows->nodes ? (enum context)rows->contexts[row->stack] : CONTEXT_UNTOLD;

	if (row->time < rows->from || row->time >= rows->to || stack == SET_NONE || row->who >= rows->whos)
		return SET_NONE;
	return sample_set_find(rows->set, stack, &(struct set_who) {
		.thread = rows->threads[row->who], .cpu = who.cpu == WHO_NO_CPU ? SET_NONE : who.cpu,
		.mode = (uint8_t)context_mode(&who, context),
	});
}

static bool next_row(struct set_rows *reader, struct set_row *to)
{
	struct log_row row;
	uint32_t sum;

	do {
		if (!sample_log_next(reader->reader, &row))
			return false;
		sum = row_sum(reader->rows, &row);
	} while (sum == SET_NONE);
	*to = (struct set_row) {
		.time = row.time, .sum = sum, .samples = row.samples, .weight = row.weight,
		.ns = row.weight * row.period,
	};
	return true;
}

static bool rows_failed(const struct set_rows *reader)
{
	return sample_log_failed(reader->reader);
}

static void close_rows(struct set_rows *reader)
{
	sample_log_close(reader->reader);
	free(reader);
}

/*
 * Gives the set the rows of the log, which it holds. A row whose sum is not in the set is left out: the set's filter
 * did not let it pass. False: there is no memory.
 */
static bool give_log(struct collecting *all)
{
	static const struct set_rows_table table = {
		.open = open_rows, .next = next_row, .failed = rows_failed, .close = close_rows, .free = free_rows,
	};
	struct sample_log *log = all->how->log;
	struct log_rows *rows = util_alloc(sizeof(*rows));

	*rows = (struct log_rows) {
		.set = all->set, .log = sample_log_hold(log), .budget = budget_hold(all->inputs->budget),
		.nodes = all->nodes, .whos = who_table_count(sample_log_whos(log)), .idle = all->idle,
		.unknown = all->unknown, .from = all->from, .to = all->to,
	};
	rows->stacks = copy_array(rows->budget, all->stack_of, rows->nodes * sizeof(*rows->stacks));
	rows->contexts = copy_array(rows->budget, all->contexts, rows->nodes);
	rows->threads = budget_resize(rows->budget, NULL, 0, rows->whos * sizeof(*rows->threads));
	if (!rows->stacks || !rows->contexts || !rows->threads) {
		free_rows(rows);
		return false;
	}
	for (uint32_t i = 0; i < rows->whos; i++) {
		struct who who = who_table_list(sample_log_whos(log))[i];

		if (!set_threads_find(&all->threads, &who, &rows->threads[i]))
			rows->threads[i] = is_unknown(&who) || all->merges ? SET_NONE : NOBODY;
	}
	sample_set_give_rows(all->set, &table, rows);
	return true;
}

/* ---- trace events out of the log ---- */

static void free_events(void *context)
{
	struct log_events *events = context;

	budget_free(events->budget, events->stacks, events->stacks ? events->nodes * sizeof(*events->stacks) : 0);
	sample_log_release(events->log);
	budget_release(events->budget);
	free(events->kinds);
	free(events);
}

static struct set_events *open_events(void *context)
{
	struct set_events *reader = util_alloc(sizeof(*reader));

	reader->events = context;
	reader->reader = trace_log_open(sample_log_traces(reader->events->log));
	return reader;
}

/* A loss before the range that is in doubt still counts from its beginning on; other events are traced everywhere. */
static bool is_in_range(struct set_events *reader, const struct trace_log_row *row)
{
	const struct log_events *events = reader->events;
	enum trace_mark mark = events->kinds[row->kind].mark;

	if (mark != TRACE_CHANGED && row->time < events->from && row->cpu < EVENT_CPUS)
		reader->lost[row->cpu] = mark == TRACE_LOST ? reader->lost[row->cpu] + row->values[0] :
			mark == TRACE_SURE ? 0 : reader->lost[row->cpu];
	return mark == TRACE_CHANGED || (row->time >= events->from && row->time < events->to &&
		filter_passes_cpu(&events->filter, row->cpu));
}

/* The loss comes first, if one before the range may reach into it. */
static bool next_log_row(struct set_events *reader, struct trace_log_row *row)
{
	const struct log_events *events = reader->events;

	if (reader->has_held) {
		*row = reader->held;
		reader->has_held = false;
		return true;
	}
	do
		if (!trace_log_next(reader->reader, row))
			return false;
	while (!is_in_range(reader, row));
	if (events->kinds[row->kind].mark == TRACE_CHANGED || row->cpu >= EVENT_CPUS || !reader->lost[row->cpu])
		return true;
	reader->held = *row;
	reader->has_held = true;
	*row = (struct trace_log_row) { .time = events->from, .cpu = row->cpu, .values = { reader->lost[row->cpu] } };
	while (events->kinds[row->kind].mark != TRACE_LOST)
		row->kind++;
	reader->lost[row->cpu] = 0;
	return true;
}

static bool next_event(struct set_events *reader, struct set_event *event)
{
	const struct log_events *events = reader->events;
	struct trace_log_row row;

	if (!next_log_row(reader, &row))
		return false;
	*event = (struct set_event) { .time = row.time, .cpu = row.cpu, .kind = &events->kinds[row.kind] };
	if (row.stack && row.stack <= events->nodes)
		event->stack = events->stacks[row.stack - 1] + 1;	/* SET_NONE: 0 */
	for (uint32_t i = 0; i < event->kind->count; i++)
		event->values[i] = row.values[i];
	return true;
}

static bool events_failed(const struct set_events *reader)
{
	return trace_log_failed(reader->reader);
}

static void close_events(struct set_events *reader)
{
	trace_log_close(reader->reader);
	free(reader);
}

static struct set_event_kind event_kind(const struct trace_log_kind *kind)
{
	struct set_event_kind own = {
		.name = kind->name, .mark = kind->mark, .role = kind->role, .pair = kind->pair,
		.count = kind->count,
	};

	memcpy(own.role_values, kind->role_values, sizeof(own.role_values));
	for (uint32_t i = 0; i < own.count; i++)
		own.values[i] = (struct set_event_value) { kind->values[i].name, kind->values[i].is_signed };
	return own;
}

/* What trace events name is in the set, also what was never sampled: their threads, and their stacks. */
static void add_named(struct collecting *all)
{
	const struct trace_log *traces = sample_log_traces(all->how->log);
	struct trace_log_reader *reader = trace_log_open(traces);
	struct trace_log_row row;
	uint64_t turn = 0;

	while (trace_log_next(reader, &row) && !all->full && !sample_set_is_full(all->set)) {
		const struct trace_log_kind *kind = trace_log_kind(traces, row.kind);
		bool in_range = row.time >= all->from && row.time < all->to &&
			filter_passes_cpu(&all->how->question->filter, row.cpu);

		all->full = stop_at(all->window->stop, turn++);
		for (uint32_t i = 0; i < kind->count; i++)
			if (kind->values[i].is_thread && row.values[i] < EVENT_NONE)
				thread_of(all, &(struct who) {
					.thread = (uint32_t)row.values[i], .process = EVENT_KERNEL,
				});
		if (in_range && row.stack && row.stack <= all->nodes)
			stack_of(all, row.stack - 1);
	}
	trace_log_close(reader);
}

/*
 * Gives the set the trace events of the log, which it holds: those in its range, of the CPUs that the filter lets pass.
 * What else a filter says is of samples. Nothing is given where nothing was traced. False: there is no memory.
 */
static bool give_events(struct collecting *all)
{
	static const struct set_events_table table = {
		.open = open_events, .next = next_event, .failed = events_failed, .close = close_events,
		.free = free_events,
	};
	const struct trace_log *traces = sample_log_traces(all->how->log);
	uint32_t count = trace_log_kinds(traces);
	struct log_events *events;

	add_named(all);
	if (count) {
		events = util_alloc(sizeof(*events));
		*events = (struct log_events) {
			.log = sample_log_hold(all->how->log), .budget = budget_hold(all->inputs->budget),
			.filter = all->how->question->filter, .from = all->from, .to = all->to, .nodes = all->nodes,
			.kinds = util_grow(NULL, count, sizeof(*events->kinds)),
		};
		events->stacks = copy_array(events->budget, all->stack_of, events->nodes * sizeof(*events->stacks));
		all->full = all->full || !events->stacks;
		for (uint32_t i = 0; i < count; i++)
			events->kinds[i] = event_kind(trace_log_kind(traces, i));
		sample_set_give_events(all->set, &table, events);
	}
	return !all->full && !sample_set_is_full(all->set);
}

/* ---- the set ---- */

/* `full`: set if there was no memory for so many. */
static struct sample_set *collect_set(const struct sample_collect *how, bool merges, bool *full, char **error)
{
	struct budget *budget = how->inputs->budget;
	struct collecting all = {
		.how = how, .window = &query_reader(how->query, how->question)->window,
		.idle = SET_NONE, .unknown = SET_NONE, .merges = merges, .first = UINT64_MAX,
		.set = sample_set_new(budget), .rows = how->rows && !how->log ? row_list_new(budget) : NULL,
	};
	bool whole;

	set_threads_init(&all.threads, all.set, how->inputs->threads, budget);
	if (how->log)
		sample_log_settle(how->log);
	whole = collect(&all) && !all.failed;
	if (all.rows)
		row_list_give(all.rows, all.set);
	else if (whole && how->log && how->rows)
		whole = (!how->events || give_events(&all)) && give_log(&all);
	clear(&all);
	if (whole && !stop_now(all.window->stop))
		return all.set;
	sample_set_free(all.set);
	if (stop_now(all.window->stop))
		util_fail(error, "interrupted; take it again");
	else if (all.failed || (how->log && *sample_log_trouble(how->log)))
		util_fail(error, "the temporary file with the samples failed: %s; set TMPDIR to a folder with room",
			how->log && *sample_log_trouble(how->log) ? sample_log_trouble(how->log) : "it cannot be read");
	else
		*full = !util_fail(error, "%s", sample_set_no_memory);
	return NULL;
}

size_t sample_collect_drawn(const struct sample_set *set)
{
	size_t lines = set->location_count ? set->line_count / set->location_count + 1 : 1;

	return set->stack_count * lines * FRAME_BYTES + set->sum_count * (size_t)SUM_BYTES;
}

/* Is there memory left to draw all of a set? What cannot be drawn has to be merged. */
static bool has_room(const struct sample_set *set, const struct budget *budget)
{
	return sample_collect_drawn(set) <= budget_left(budget);
}

struct sample_set *sample_collect(const struct sample_collect *how, char **error)
{
	struct sample_collect of_slices = *how;
	bool many = how->most && stacks_nodes(how->inputs->stacks) / MANY > how->most;
	bool merges = many || how->kept, full = false;
	struct sample_set *set;

	if (filter_off_cpu(&how->question->filter) && how->rows) {
		util_fail(error, "this format shows when CPUs ran what, and the filter asks for time off them; choose "
			"another, such as folded, svg or pprof");
		return NULL;
	}
	if (filter_off_cpu(&how->question->filter)) {	/* the log has samples */
		of_slices.log = NULL;
		how = &of_slices;
	}
	set = collect_set(how, merges, &full, error);
	if (!how->most || merges || (set && has_room(set, how->inputs->budget)) || (!set && !full))
		return set;
	sample_set_free(set);
	free(*error);
	*error = NULL;
	return collect_set(how, true, &full, error);
}
