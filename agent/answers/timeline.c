/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/call_text.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/store/run.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"
#include "event_table.h"
#include "thread_states.h"
#include "timeline.h"

#define NO_LINE 0xffffffffu
enum { LINES = TIMELINE_CPUS + TIMELINE_THREADS };

const char *const timeline_words[TIMELINE_STATES] = {
	"unknown", "run", "irq", "idle", "ready", "sleep", "blocked", "lock",
};

struct met_thread {			/* a thread that has spans in the range, or woke one that has */
	uint32_t thread, line;		/* line: NO_LINE: it has none */
	bool is_there, is_tied;		/* it has spans; it woke the focus, or was woken by it */
	uint64_t cpus;			/* on which it ran: bit i is of all that have i as their low bits */
	uint64_t busy;			/* ns in which it ran or waited for a CPU */
};

struct column {				/* of a line: ns in each state, and in calls or interrupts */
	uint64_t states[TIMELINE_STATES], inside;	/* waits for locks are beside what the thread does meanwhile */
	uint16_t lock;			/* the name of the one for which it waited last */
	uint16_t pair;			/* the name of the pair that it was in for longest: */
	uint64_t pair_ns, pair_begun;	/* so long, and when that began */
	uint64_t name_begun;		/* when the one began that gave `name` */
	uint64_t who_ns, name_ns;	/* of the spans that gave `who` and `name`, the longest ones: */
	struct timeline_cell cell;	/* whose state is not decided yet */
};

struct recalled_thread {		/* a thread that was met lately */
	uint32_t thread, met;		/* met: its place plus 1; 0: none */
};

enum { RECALLED = 1024 };

struct even {				/* what is the same all through a time that is longer than a column */
	uint64_t begin, end;		/* guest ns; `end` 0: there is nothing */
	struct column column;
};

struct line {				/* what a CPU or a thread did in each column */
	struct column *columns;		/* in one block with the evens */
	struct even *evens;		/* by the columns in which they begin */
};

struct making {
	struct timeline *timeline;
	const struct timeline_request *request;
	struct budget *budget;
	const struct span_name *numbers;	/* of rows' names */
	uint16_t *known_as;		/* by these: its name in the answer; 0: it has none yet */
	struct span_name *named;	/* by names of the answer */
	struct hash by_name, by_thread;	/* of `named`, of `met` */
	struct met_thread *met;
	struct recalled_thread recalled[RECALLED];	/* by their low bits */
	uint32_t names_room, named_room, met_room, met_count, spans_room;
	uint64_t until;			/* how far what is under way is known */
	uint64_t begun;			/* what began up to here is on at the moment */
	struct timeline_span woke, wakes;	/* the moment's thread's last wake, its next one; `begin` 0: none */
	bool cpu_is_there[EVENT_CPUS];	/* it has spans in the range */
	uint64_t cpu_busy[EVENT_CPUS];	/* ns in which it ran a thread or a handler */
	uint32_t line_of_cpu[EVENT_CPUS];	/* or NO_LINE */
	/* All that are met have lines at once; if these are too many, those that are chosen, for another reading. */
	bool at_once;
	uint32_t cpu_count, thread_count, line_count;
	struct line lines[LINES];
	uint32_t line_of[LINES];	/* of each row of the answer */
	void (*each)(struct making *making, const struct timeline_span *span);
	bool full;			/* there was no memory */
};

/* ---- spans ---- */

/* 0: there is no memory. */
static uint16_t name_of(struct making *making, enum span_kind kind, uint64_t number)
{
	struct timeline *timeline = making->timeline;
	uint64_t hash = hash_pair(&making->by_name, number, kind);
	uint32_t at = 0, position;
	char (*names)[TIMELINE_CALLED];
	struct span_name *named;

	while ((position = hash_next(&making->by_name, hash, &at)) != HASH_NONE)
		if (making->named[position].number == number && making->named[position].kind == kind)
			return (uint16_t)position;
	names = budget_array(making->budget, timeline->names, timeline->name_count, &making->names_room,
		sizeof(*names));
	timeline->names = names ? names : timeline->names;
	named = budget_array(making->budget, making->named, timeline->name_count, &making->named_room,
		sizeof(*named));
	making->named = named ? named : making->named;
	if (!names || !named || timeline->name_count > SPAN_NAMES ||
			!hash_add(&making->by_name, hash, timeline->name_count)) {
		making->full = true;
		return 0;
	}
	named[timeline->name_count] = (struct span_name) { kind, number };
	names[timeline->name_count][0] = '\0';
	if (kind == SPAN_CALL)				/* its kind is plain */
		event_called(timeline->answer.epoch, kind, number, names[timeline->name_count]);
	if (kind < SPAN_KINDS && !names[timeline->name_count][0])
		event_name(timeline->answer.epoch, kind, number, names[timeline->name_count]);
	return (uint16_t)timeline->name_count++;
}

static void take_row(void *context, const struct span_row *row)
{
	struct making *making = context;
	const struct span_name *name = &making->numbers[row->name];
	uint16_t *known_as = &making->known_as[row->name];

	uint32_t handler = row->interrupt ? span_row_handler(row) : SPAN_NAMES;

	*known_as = *known_as ? *known_as : name_of(making, name->kind, name->number);
	if (handler < SPAN_NAMES && !making->known_as[handler])
		making->known_as[handler] = name_of(making, making->numbers[handler].kind,
			making->numbers[handler].number);
	making->each(making, &(struct timeline_span) {
		.kind = name->kind, .name = *known_as, .thread = row->thread, .cpu = row->cpu,
		.waker = row->interrupt ? span_row_cpu(row) : row->waker,
		.handler = handler < SPAN_NAMES ? making->known_as[handler] : 0, .interrupt = row->interrupt,
		.lost = row->lost, .stack = row->stack,
		.begin = row->end - row->duration, .end = row->end,
	});
}

static void take_open(void *context, const struct trace_span *span)
{
	struct making *making = context;
	const struct span_row row = span_row_of(span);
	bool in = row.interrupt && span->woken_in_kind != SPAN_THREAD;

	making->each(making, &(struct timeline_span) {
		.kind = span->kind, .name = name_of(making, span->kind, span->number), .thread = row.thread,
		.cpu = row.cpu, .waker = row.interrupt ? span_row_cpu(&row) : row.waker, .interrupt = row.interrupt,
		.handler = in ? name_of(making, span->woken_in_kind, span->woken_in) : 0, .open = true,
		.stack = row.stack,
		.begin = span->begin, .end = span->begin < making->until ? making->until : span->begin,
	});
}

/*
 * One alone is known to the ns. Many are taken as even: through their slot, as far as there are no rows; or, if they
 * took longer, until the last one ended.
 */
static void take_sum(void *context, const struct span_sum *sum, uint64_t slot)
{
	struct making *making = context;
	const struct span_name *name = &making->numbers[sum->name];
	uint16_t *known_as = &making->known_as[sum->name];
	uint64_t exact = making->timeline->exact_from, end = sum->end, begin = sum->total < end ? end - sum->total : 0;
	uint64_t slot_begin = end / slot * slot, slot_end = slot_begin + slot < exact ? slot_begin + slot : exact;

	if (!sum->total)			/* nothing that takes time, or it is lost how much */
		return;
	if (sum->count > 1 && begin >= slot_begin && slot_end > end) {
		begin = slot_begin;
		end = slot_end;
	}
	*known_as = *known_as ? *known_as : name_of(making, name->kind, name->number);
	making->each(making, &(struct timeline_span) {
		.kind = name->kind, .name = *known_as, .thread = sum->thread, .cpu = sum->cpu, .waker = EVENT_NONE,
		.begin = begin, .end = end, .total = sum->total,
	});
}

/* Gives each span of these times, and perhaps others. */
static void read_spans(struct making *making, uint64_t from, uint64_t to,
	void (*each)(struct making *making, const struct timeline_span *span))
{
	const struct trace *trace = making->timeline->answer.epoch->trace;

	making->each = each;
	span_rows_read(trace_rows(trace), from, to, take_row, making);
	pairs_under_way(trace_pairs(trace), take_open, making);
}

static void read_sums(struct making *making, void (*each)(struct making *making, const struct timeline_span *span))
{
	making->each = each;
	span_rows_read_sums(trace_rows(making->timeline->answer.epoch->trace), making->timeline->from,
		making->timeline->to, take_sum, making);
}

/* Its part in the range, or in a column; 0: it has none. */
static uint64_t part_of(const struct timeline_span *span, uint64_t from, uint64_t to)
{
	uint64_t begin = span->begin > from ? span->begin : from, end = span->end < to ? span->end : to;

	if (end <= begin)
		return 0;
	if (!span->total)
		return end - begin;
	return begin == span->begin && end == span->end ? span->total :
		(uint64_t)((double)span->total * (double)(end - begin) / (double)(span->end - span->begin));
}

/* It may also be there for an instant, alone. */
static bool is_in_range(const struct making *making, const struct timeline_span *span)
{
	return span->begin < making->timeline->to && span->end >= making->timeline->from;
}

/* A thread is in a pair of events of the kernel's own. The hook's are of a device, a CPU or a whole life. */
static bool is_own_pair(const struct making *making, const struct timeline_span *span)
{
	return span->kind == SPAN_PAIR && !span->lost &&
		SPAN_EVENT(making->named[span->name].number) >= EVENT_TRACE_USER;
}

/* ---- a moment ---- */

static bool is_of_row(const struct timeline_request *request, enum span_kind kind, uint32_t thread, uint32_t cpu)
{
	bool of_cpu = kind == SPAN_THREAD || span_is_handler(kind);

	return request->of_cpu ? of_cpu && cpu == request->of : !span_is_handler(kind) && thread == request->of;
}

static void take_row_of_moment(void *context, const struct span_row *row)
{
	struct making *making = context;

	if (is_of_row(making->request, making->numbers[row->name].kind, row->thread, row->cpu))
		take_row(making, row);
}

static void meet_time(struct timeline_moment *moment, uint64_t time)
{
	if (time < moment->time && time > moment->before)
		moment->before = time;
	if (time > moment->time && (!moment->after || time < moment->after))
		moment->after = time;
}

static void meet_wake(struct making *making, const struct timeline_span *ready)
{
	if (ready->begin <= making->timeline->moment.time && ready->begin > making->woke.begin)
		making->woke = *ready;
	if (ready->begin > making->timeline->moment.time &&
			(!making->wakes.begin || ready->begin < making->wakes.begin))
		making->wakes = *ready;
}

static void add_to_moment(struct making *making, const struct timeline_span *span)
{
	struct timeline_moment *moment = &making->timeline->moment;
	bool inside = span->kind == SPAN_CALL || span_is_handler(span->kind), holds = moment->holds;
	bool pair = is_own_pair(making, span);
	struct timeline_span *is = span->kind == SPAN_LOCK ? &moment->lock : span->kind == SPAN_HOLD ? &moment->hold :
		inside ? &moment->inside : pair ? &moment->pair : &moment->now;
	bool *known = span->kind == SPAN_LOCK ? &moment->waits : span->kind == SPAN_HOLD ? &holds :
		inside ? &moment->is_inside : pair ? &moment->is_in_pair : &moment->is_known;

	if (!is_of_row(making->request, span->kind, span->thread, span->cpu))
		return;
	meet_time(moment, span->begin);
	if (!span->open)
		meet_time(moment, span->end);
	if (span->kind == SPAN_READY && (span->interrupt || span->waker != EVENT_NONE))
		meet_wake(making, span);
	if ((span_is_other(span->kind) && !pair) || span->begin > making->begun ||
			(span->end <= making->begun && !span->open))
		return;
	if (!*known || span->begin >= is->begin)		/* the innermost interrupt */
		*is = *span;
	*known = true;
	moment->holds += span->kind == SPAN_HOLD;
}

/*
 * True: all that is told of the moment stands between these times, or is from before the first row. A sleep ends with
 * the wake that comes next.
 */
static bool read_moment(struct making *making, uint64_t from, uint64_t to)
{
	struct timeline_moment *moment = &making->timeline->moment;
	bool first = from < making->timeline->exact_from;
	const struct trace *trace = making->timeline->answer.epoch->trace;
	bool sleeps;

	*moment = (struct timeline_moment) { .of_cpu = moment->of_cpu, .of = moment->of, .time = moment->time };
	making->woke.begin = making->wakes.begin = 0;
	making->each = add_to_moment;
	span_rows_read(trace_rows(trace), from, to, take_row_of_moment, making);
	pairs_under_way(trace_pairs(trace), take_open, making);
	sleeps = moment->is_known && moment->now.kind == SPAN_SLEEP && !moment->now.open;
	moment->wake = sleeps && making->wakes.begin ? making->wakes : making->woke;
	moment->woken = moment->wake.begin;
	return (first || moment->before >= from) && moment->after && moment->after < to && (moment->of_cpu ||
		(sleeps ? making->wakes.begin && making->wakes.begin < to : first || making->woke.begin >= from));
}

/* Its row's nearest events are sought ever further away. */
static void find_moment(struct making *making)
{
	const struct timeline *timeline = making->timeline;
	uint64_t time = timeline->moment.time, exact = timeline->exact_from;
	uint64_t reach = timeline->each + (time < exact ? exact - time : 0);
	bool found = false;

	while (!found && reach < timeline->now) {
		found = read_moment(making, time > reach ? time - reach : 0, time + reach);
		reach = reach < timeline->now / 16 ? 16 * reach : timeline->now;
	}
	if (!found)
		read_moment(making, 0, UINT64_MAX);
}

/* A row has the last holder of its wait. */
static void find_holder(struct timeline_moment *moment, const struct epoch *epoch)
{
	struct thread_states *states = thread_states_new(epoch, moment->time, EVENT_NONE);
	const struct pairs_thread is = thread_states_of(states, moment->of);

	if (is.wait.begin == moment->lock.begin) {
		moment->lock.waker = (uint32_t)is.wait.holder;
		moment->held_last = is.held_last;
	}
	thread_states_free(states);
}

/* The stack of a wake to run is the waker's. */
static void place_moment(struct making *making)
{
	struct timeline_moment *moment = &making->timeline->moment;
	bool left = moment->is_known && !(moment->now.kind == SPAN_READY &&
		making->named[moment->now.name].number == READY_WOKEN);
	const struct { uint32_t stack; char *text; } places[] = {
		{ left ? moment->now.stack : 0, moment->left_at },
		{ moment->waits ? moment->lock.stack : 0, moment->waits_at },
		{ moment->holds ? moment->hold.stack : 0, moment->took_at },
		{ moment->woken ? moment->wake.stack : 0, moment->woken_at },
	};
	char text[STACK_TEXT];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		util_print(places[i].text, TIMELINE_PLACE, "%s",
			call_text_stack(making->timeline->answer.epoch, places[i].stack, TIMELINE_FRAMES, text));
}

/* ---- threads and CPUs ---- */

/* NULL: it was not met. */
static struct met_thread *find_met_thread(struct making *making, uint32_t thread)
{
	struct recalled_thread *recalled = &making->recalled[thread % RECALLED];
	uint64_t hash;
	uint32_t at = 0, position;

	if (recalled->met && recalled->thread == thread)
		return &making->met[recalled->met - 1];
	hash = hash_pair(&making->by_thread, thread, 0);
	while ((position = hash_next(&making->by_thread, hash, &at)) != HASH_NONE)
		if (making->met[position].thread == thread) {
			*recalled = (struct recalled_thread) { thread, position + 1 };
			return &making->met[position];
		}
	return NULL;
}

/* NULL: no memory. */
static struct met_thread *meet_thread(struct making *making, uint32_t thread)
{
	struct met_thread *met = find_met_thread(making, thread);

	if (met)
		return met;
	met = budget_array(making->budget, making->met, making->met_count, &making->met_room, sizeof(*met));
	making->met = met ? met : making->met;
	if (!met || !hash_add(&making->by_thread, hash_pair(&making->by_thread, thread, 0), making->met_count)) {
		making->full = true;
		return NULL;
	}
	met[making->met_count] = (struct met_thread) { .thread = thread, .line = NO_LINE };
	return &met[making->met_count++];
}

static size_t line_bytes(const struct making *making)
{
	return making->timeline->columns * (sizeof(struct column) + sizeof(struct even));
}

/* An empty one. NO_LINE: there is no memory. */
static uint32_t new_line(struct making *making)
{
	struct column *columns = budget_resize(making->budget, NULL, 0, line_bytes(making));

	if (!columns)
		return NO_LINE;
	memset(columns, 0, line_bytes(making));
	making->lines[making->line_count] = (struct line) { columns,
		(struct even *)(columns + making->timeline->columns) };
	return making->line_count++;
}

static void drop_lines(struct making *making)
{
	while (making->line_count)
		budget_free(making->budget, making->lines[--making->line_count].columns, line_bytes(making));
}

/* Of a CPU or a thread that is met now: the one after `count` others. */
static uint32_t line_at_once(struct making *making, uint32_t count, uint32_t most)
{
	uint32_t line = making->at_once && count < most ? new_line(making) : NO_LINE;

	making->at_once = line != NO_LINE;
	return line;
}

static void meet_span(struct making *making, const struct timeline_span *span)
{
	uint64_t focus = making->request->focus;
	bool runs = span->kind == SPAN_THREAD, woken = span->waker != EVENT_NONE && !span->interrupt;
	struct met_thread *met, *waker;

	if (!is_in_range(making, span))
		return;
	if (runs || span->kind == SPAN_SLEEP || span->kind == SPAN_READY)
		making->timeline->stateless = 0;
	if ((runs || span_is_handler(span->kind)) && !making->cpu_is_there[span->cpu]) {
		making->cpu_is_there[span->cpu] = true;
		making->line_of_cpu[span->cpu] = line_at_once(making, making->cpu_count++, TIMELINE_CPUS);
	}
	if (span_is_handler(span->kind) || (runs && span->thread != EVENT_NONE))
		making->cpu_busy[span->cpu] += part_of(span, making->timeline->from, making->timeline->to);
	if (span_is_handler(span->kind) || span->thread == EVENT_NONE || !(met = meet_thread(making, span->thread)))
		return;
	if (!met->is_there)
		met->line = line_at_once(making, making->thread_count++, TIMELINE_THREADS);
	met->is_there = true;
	met->cpus |= runs ? UINT64_C(1) << span->cpu % 64 : 0;
	if (runs || span->kind == SPAN_READY)
		met->busy += part_of(span, making->timeline->from, making->timeline->to);
	met->is_tied = met->is_tied || (woken && span->waker == focus);
	waker = woken ? meet_thread(making, span->waker) : NULL;
	if (waker)
		waker->is_tied = waker->is_tied || span->thread == focus;
}

struct rank {				/* of a thread: why it has a row */
	int tie;
	struct met_thread *met;
};

static int by_rank(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;

	if (a->tie != b->tie)
		return a->tie < b->tie ? 1 : -1;
	if (a->met->busy != b->met->busy)
		return a->met->busy < b->met->busy ? 1 : -1;
	return (a->met->thread > b->met->thread) - (a->met->thread < b->met->thread);
}

static bool passes(const struct making *making, const struct filter *filter, const struct met_thread *met)
{
	struct threads *threads = making->timeline->answer.epoch->inputs.threads;
	const struct who who = {
		.thread = met->thread, .process = threads_owner(threads, met->thread, EVENT_KERNEL), .cpu = WHO_NO_CPU,
	};

	return met->is_there && filter_passes(filter, threads, &who, CONTEXT_UNTOLD);
}

/* The line below the rows tells of it, so it keeps its row where there is little room. */
static bool is_of_moment(const struct making *making, const struct met_thread *met)
{
	return making->request->rows && !making->request->of_cpu && met->thread == making->request->of;
}

/* The threads that may have rows, the most important first. Returns how many. */
static uint32_t rank_threads(struct making *making, struct rank *ranks)
{
	const struct filter *asked = &making->request->request.excerpt.filter;
	struct filter filter = event_filter(asked);
	uint64_t focus = making->request->focus, cpus = 0;
	uint32_t count = 0, kept = 0;

	for (uint32_t i = 0; i < filter.count; i++)	/* no CPU at all: it is for another machine */
		if (filter.terms[i].by != FILTER_CPU || !filter.text[filter.terms[i].text])
			filter.terms[kept++] = filter.terms[i];
	filter.count = kept;
	for (uint32_t i = 0; i < making->met_count; i++)
		cpus |= making->met[i].thread == focus ? making->met[i].cpus : 0;
	for (uint32_t i = 0; i < making->met_count; i++) {
		struct met_thread *met = &making->met[i];

		if (passes(making, &filter, met))
			ranks[count++] = (struct rank) { met->thread == focus ? 4 : is_of_moment(making, met) ? 3 :
				met->is_tied ? 2 : (met->cpus & cpus) != 0, met };
	}
	if (count)
		qsort(ranks, count, sizeof(*ranks), by_rank);
	return count;
}

/* False: there is no memory. */
static bool add_row(struct making *making, bool is_cpu, uint32_t number, uint32_t *line)
{
	struct timeline *timeline = making->timeline;

	*line = *line == NO_LINE ? new_line(making) : *line;
	making->full = making->full || *line == NO_LINE;
	if (*line == NO_LINE)
		return false;
	making->line_of[timeline->count] = *line;
	timeline->rows[timeline->count++] = (struct timeline_row) { .is_cpu = is_cpu, .number = number };
	return true;
}

/* Those that have rows: the busiest, `keep` of `count`. */
static void keep_cpus(struct making *making, uint32_t count, uint32_t keep)
{
	for (; count > keep; count--) {
		uint32_t least = EVENT_CPUS;

		for (uint32_t cpu = EVENT_CPUS; cpu-- > 0;)
			if (making->cpu_is_there[cpu] && (least == EVENT_CPUS ||
					making->cpu_busy[cpu] < making->cpu_busy[least]))
				least = cpu;
		making->cpu_is_there[least] = false;
		making->timeline->cpus_more++;
	}
}

/* Where there is room for so many rows alone, half of them are for each, and what these leave for the other. */
static void choose_rows(struct making *making)
{
	struct timeline *timeline = making->timeline;
	const struct filter *filter = &making->request->request.excerpt.filter;
	uint64_t asked = making->request->rows;
	struct rank *ranks = util_alloc((making->met_count + 1) * sizeof(*ranks));
	uint32_t rows = asked && asked < LINES ? (uint32_t)asked : LINES;
	uint32_t cpus = 0, threads = rank_threads(making, ranks), chosen = 0, room;

	if (!making->at_once) {
		drop_lines(making);
		memset(making->line_of_cpu, 0xff, sizeof(making->line_of_cpu));
		for (uint32_t i = 0; i < making->met_count; i++)
			making->met[i].line = NO_LINE;
	}
	timeline->rows = util_alloc(LINES * sizeof(*timeline->rows));
	for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++)
		cpus += making->cpu_is_there[cpu] = making->cpu_is_there[cpu] && filter_passes_cpu(filter, cpu);
	room = threads < rows / 2 ? rows - threads : rows - rows / 2;
	keep_cpus(making, cpus, room < TIMELINE_CPUS ? room : TIMELINE_CPUS);
	for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++)
		if (making->cpu_is_there[cpu] && !add_row(making, true, cpu, &making->line_of_cpu[cpu]))
			timeline->cpus_more++;
	room = rows - timeline->count < TIMELINE_THREADS ? rows - timeline->count : TIMELINE_THREADS;
	while (chosen < threads && chosen < room &&
			add_row(making, false, ranks[chosen].met->thread, &ranks[chosen].met->line))
		chosen++;
	timeline->threads_more = threads - chosen;
	free(ranks);
}

/* ---- cells ---- */

static uint32_t line_of_thread(struct making *making, uint32_t thread)
{
	const struct met_thread *met = find_met_thread(making, thread);

	return met ? met->line : NO_LINE;
}

static uint64_t part_in_column(const struct timeline *timeline, const struct timeline_span *span, uint64_t column)
{
	uint64_t begin = timeline->from + column * timeline->each, end = begin + timeline->each;

	return part_of(span, begin, end < timeline->to ? end : timeline->to);
}

struct part {				/* of a span, what is added to a cell */
	enum timeline_state state;
	bool inside, pair;		/* it is a call, or an interrupt; a pair of the kernel's own */
	uint16_t name;
	uint32_t who;
	uint64_t begun;
};

/* Those of one name are one. */
static void add_pair(struct column *column, uint16_t name, uint64_t begun, uint64_t ns)
{
	if (name != column->pair && ns < column->pair_ns)
		return;
	column->pair_ns = ns + (name == column->pair ? column->pair_ns : 0);
	column->pair_begun = begun;
	column->pair = name;
}

static void add_to_column(struct column *column, const struct part *part, uint64_t ns)
{
	if (part->state)
		column->states[part->state] += ns;
	if (part->inside)
		column->inside += ns;
	if (part->state == TIMELINE_LOCK)
		column->lock = part->name;
	if (part->inside && ns >= column->name_ns) {
		column->name_ns = ns;
		column->name_begun = part->begun;
		column->cell.name = part->name;
	}
	if (part->pair)
		add_pair(column, part->name, part->begun, ns);
	if (part->state == TIMELINE_RUN && ns > column->who_ns) {
		column->who_ns = ns;
		column->cell.who = part->who;
	}
}

/* True: it is added there, together with others that are as even, and takes the time for one column alone. */
static bool add_to_even(struct even *even, uint64_t each, const struct timeline_span *span, const struct part *part)
{
	if (!span->total || span->end - span->begin <= each ||
			(even->end && (even->begin != span->begin || even->end != span->end)))
		return false;
	even->begin = span->begin;
	even->end = span->end;
	add_to_column(&even->column, part, span->total);
	return true;
}

/* From the column on in which it begins, or the first one. */
static void add_to_line(struct making *making, uint32_t line, uint64_t column, const struct timeline_span *span,
	const struct part *part)
{
	const struct timeline *timeline = making->timeline;
	uint64_t ns;

	if (line == NO_LINE || add_to_even(&making->lines[line].evens[column], timeline->each, span, part))
		return;
	for (; column < timeline->columns && (ns = part_in_column(timeline, span, column)); column++)
		add_to_column(&making->lines[line].columns[column], part, ns);
}

static void add_share(struct column *column, const struct column *even, double share)
{
	uint64_t name_ns = (uint64_t)(share * (double)even->name_ns), who_ns = (uint64_t)(share * (double)even->who_ns);

	for (int state = 1; state < TIMELINE_STATES; state++)
		column->states[state] += (uint64_t)(share * (double)even->states[state]);
	column->inside += (uint64_t)(share * (double)even->inside);
	if (even->states[TIMELINE_LOCK])
		column->lock = even->lock;
	if (name_ns && name_ns >= column->name_ns) {
		column->name_ns = name_ns;
		column->name_begun = even->name_begun;
		column->cell.name = even->cell.name;
	}
	if (even->pair_ns)
		add_pair(column, even->pair, even->pair_begun, (uint64_t)(share * (double)even->pair_ns));
	if (who_ns > column->who_ns) {
		column->who_ns = who_ns;
		column->cell.who = even->cell.who;
	}
}

/* Of what is even, each column has its part. */
static void add_evens(const struct timeline *timeline, const struct line *line)
{
	for (uint64_t first = 0; first < timeline->columns; first++) {
		const struct even *even = &line->evens[first];
		const struct timeline_span is = { .begin = even->begin, .end = even->end };
		uint64_t column = first, ns;

		for (; column < timeline->columns && (ns = part_in_column(timeline, &is, column)); column++)
			add_share(&line->columns[column], &even->column, (double)ns / (double)(is.end - is.begin));
	}
}

static void keep_span(struct making *making, const struct timeline_span *span)
{
	struct timeline *timeline = making->timeline;
	struct timeline_span *spans;

	if (!making->request->spans || span->total || !is_in_range(making, span))
		return;
	spans = timeline->span_count < TIMELINE_SPANS ? budget_array(making->budget, timeline->spans,
		timeline->span_count, &making->spans_room, sizeof(*spans)) : NULL;
	if (!spans) {
		timeline->spans_more++;
		return;
	}
	timeline->spans = spans;
	spans[timeline->span_count++] = *span;
}

static void add_span(struct making *making, const struct timeline_span *span)
{
	static const enum timeline_state states[SPAN_KINDS] = {
		[SPAN_THREAD] = TIMELINE_RUN, [SPAN_INTERRUPT] = TIMELINE_INTERRUPT, [SPAN_CALL] = TIMELINE_UNKNOWN,
		[SPAN_SLEEP] = TIMELINE_SLEEP, [SPAN_READY] = TIMELINE_READY, [SPAN_SOFTIRQ] = TIMELINE_INTERRUPT,
		[SPAN_LOCK] = TIMELINE_LOCK, [SPAN_HOLD] = TIMELINE_UNKNOWN,
		[SPAN_PAIR] = TIMELINE_UNKNOWN, [SPAN_SINGLE] = TIMELINE_UNKNOWN,
	};
	enum timeline_state state = states[span->kind];
	const struct timeline *timeline = making->timeline;
	uint64_t from = span->begin > timeline->from ? span->begin : timeline->from;
	bool on_cpu = span->kind == SPAN_THREAD || span_is_handler(span->kind);
	struct part part = { .inside = span->kind == SPAN_CALL || span_is_handler(span->kind),
		.pair = is_own_pair(making, span), .name = span->name, .begun = span->begin };
	uint32_t cpu = on_cpu ? making->line_of_cpu[span->cpu] : NO_LINE;
	uint32_t thread = span_is_handler(span->kind) ? NO_LINE : line_of_thread(making, span->thread);

	if (span->kind == SPAN_SLEEP && making->named[span->name].number == SLEEP_BLOCKED)
		state = TIMELINE_BLOCKED;
	if (cpu == NO_LINE && thread == NO_LINE)
		return;
	keep_span(making, span);
	if (span->begin < timeline->to && span->end > from) {
		uint64_t column = (from - timeline->from) / timeline->each;

		part.state = span->thread == EVENT_NONE ? TIMELINE_IDLE : state;
		part.who = span->thread;
		add_to_line(making, cpu, column, span, &part);
		part.state = state;
		part.who = span->cpu;
		add_to_line(making, thread, column, span, &part);
	}
}

static void meet_and_add(struct making *making, const struct timeline_span *span)
{
	meet_span(making, span);
	if (making->at_once)
		add_span(making, span);
}

/* The state that took most of the column; an interrupt's time is also that of what it interrupts. */
static struct timeline_cell decide(const struct column *sums, uint64_t width)
{
	struct timeline_cell cell = sums->cell;
	uint64_t states[TIMELINE_STATES], known = 0, interrupts = sums->states[TIMELINE_INTERRUPT];
	bool waits = 2 * sums->states[TIMELINE_LOCK] > width;

	memcpy(states, sums->states, sizeof(states));
	states[TIMELINE_RUN] -= interrupts < states[TIMELINE_RUN] ? interrupts : states[TIMELINE_RUN];
	states[TIMELINE_IDLE] -= interrupts < states[TIMELINE_IDLE] ? interrupts : states[TIMELINE_IDLE];
	states[TIMELINE_LOCK] = 0;
	for (int i = 1; i < TIMELINE_STATES; i++)
		known += states[i];
	states[TIMELINE_UNKNOWN] = known < width ? width - known : 0;
	for (int i = 1; i < TIMELINE_STATES; i++)
		if (states[i] && states[i] >= states[cell.state])
			cell.state = (uint8_t)i;
	if (2 * sums->inside <= width || cell.state == TIMELINE_UNKNOWN)
		cell.name = 0;
	if (2 * sums->pair_ns > width && cell.state != TIMELINE_UNKNOWN &&
			(!cell.name || sums->pair_begun > sums->name_begun))
		cell.name = sums->pair;
	if (waits) {
		cell.state = TIMELINE_LOCK;
		cell.name = sums->lock;
	}
	return cell;
}

/* How much of a column the range has. */
static uint64_t width_of(const struct timeline *timeline, uint64_t column)
{
	const struct timeline_span whole = { .begin = timeline->from, .end = timeline->to };

	return part_in_column(timeline, &whole, column);
}

static void fill_cells(struct making *making)
{
	struct timeline *timeline = making->timeline;
	size_t bytes = (size_t)timeline->count * timeline->columns * sizeof(*timeline->cells) + 1;

	timeline->cells = budget_resize(making->budget, NULL, 0, bytes);
	if (!timeline->cells) {
		making->full = true;
		timeline->count = 0;
		return;
	}
	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct line *line = &making->lines[making->line_of[i]];
		struct timeline_cell *cells = timeline->cells + (size_t)i * timeline->columns;

		add_evens(timeline, line);
		for (uint32_t column = 0; column < timeline->columns; column++)
			cells[column] = decide(&line->columns[column], width_of(timeline, column));
		timeline->rows[i].cells = cells;
	}
}

/* ---- the answer ---- */

static int by_thread(const void *left, const void *right)
{
	const struct timeline_thread *a = left, *b = right;

	if (a->machine != b->machine)
		return a->machine < b->machine ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Those of `met`, with their titles. */
static void name_threads(struct making *making)
{
	struct timeline *timeline = making->timeline;

	timeline->threads = budget_resize(making->budget, NULL, 0, making->met_count * sizeof(*timeline->threads) + 1);
	if (!timeline->threads) {
		making->full = true;
		return;
	}
	for (uint32_t i = 0; i < making->met_count; i++) {
		struct timeline_thread *thread = &timeline->threads[i];

		thread->machine = 0;
		thread->thread = making->met[i].thread;
		threads_title(timeline->answer.epoch->inputs.threads, thread->thread, thread->title, TIMELINE_TITLE);
	}
	timeline->thread_count = making->met_count;
	if (timeline->thread_count)
		qsort(timeline->threads, timeline->thread_count, sizeof(*timeline->threads), by_thread);
}

void timeline_columns(struct timeline *timeline, uint64_t columns, uint64_t each)
{
	uint64_t length = timeline->to - timeline->from;

	columns = columns < 1 ? 1 : columns < TIMELINE_COLUMNS ? columns : TIMELINE_COLUMNS;
	timeline->each = (length + columns - 1) / columns;
	timeline->each += !timeline->each;
	if (each > timeline->each) {
		timeline->each = each;
		columns = length / each + !!(length % each) + !length;
	}
	timeline->columns = (uint32_t)columns;
}

/* As the excerpt says, to the ns: other answers are rounded to slices. */
static void find_range(struct making *making, const struct span_rows *rows)
{
	struct timeline *timeline = making->timeline;
	struct excerpt excerpt = making->request->request.excerpt;
	uint64_t columns = making->request->columns, at = making->request->at, first = span_rows_first(rows);
	struct question question;

	excerpt.zero_ns = excerpt.moved ? 0 : excerpt.zero_ns;
	excerpt.moved = 0;
	question = excerpt_question(timeline->answer.epoch, &excerpt);
	timeline->to = !excerpt.until_ns ? making->until : question.to < timeline->now ? question.to : timeline->now;
	timeline->from = !excerpt.window_ns ? first : excerpt.window_ns < timeline->to ?
		timeline->to - excerpt.window_ns : 0;
	if (excerpt.zero_ns > timeline->from && excerpt.zero_ns < timeline->to)
		timeline->from = excerpt.zero_ns;
	timeline->from = timeline->from < timeline->to ? timeline->from : timeline->to;
	timeline_columns(timeline, columns, making->request->each);
	timeline->moment.of_cpu = making->request->of_cpu;
	timeline->moment.of = making->request->of;
	timeline->moment.time = at && at < timeline->to ? at : timeline->to - (timeline->to > timeline->from);
	if (timeline->moment.time < timeline->from)
		timeline->moment.time = timeline->from;
	/* What began with the last event of all is on: of a dead machine it is what ran at its end. */
	making->begun = timeline->moment.time + (!excerpt.until_ns && timeline->moment.time + 1 == timeline->to);
}

static void fill(struct timeline *timeline, const struct timeline_request *request)
{
	const struct epoch *epoch = timeline->answer.epoch;
	const struct span_rows *rows = trace_rows(epoch->trace);
	uint64_t until = trace_until(epoch->trace);
	struct making *making = util_alloc(sizeof(*making));
	uint32_t names;

	timeline->budget = epoch->inputs.budget;
	*making = (struct making) { .timeline = timeline, .request = request, .budget = timeline->budget };
	making->until = until < timeline->now ? until : timeline->now;
	memset(making->line_of_cpu, 0xff, sizeof(making->line_of_cpu));
	names = span_rows_names(rows, &making->numbers);
	making->known_as = util_alloc((names + 1) * sizeof(*making->known_as));
	hash_init(&making->by_name, making->budget);
	hash_init(&making->by_thread, making->budget);
	find_range(making, rows);
	timeline->stateless = 1;
	name_of(making, SPAN_KINDS, 0);			/* the first one is that of none */
	if (request->of_cpu || request->of != EVENT_NONE)
		find_moment(making);
	place_moment(making);
	if (timeline->moment.waits)
		find_holder(&timeline->moment, epoch);
	making->at_once = !request->spans;
	read_spans(making, timeline->from, timeline->to, meet_and_add);
	read_sums(making, meet_and_add);
	if (timeline->moment.woken && !timeline->moment.wake.interrupt)
		meet_thread(making, timeline->moment.wake.waker);
	if (timeline->moment.waits && timeline->moment.lock.waker != EVENT_NONE)
		meet_thread(making, timeline->moment.lock.waker);
	if (timeline->moment.is_known && timeline->moment.now.thread != EVENT_NONE)
		meet_thread(making, timeline->moment.now.thread);
	if (!request->of_cpu && request->of != EVENT_NONE)
		meet_thread(making, (uint32_t)request->of);
	choose_rows(making);
	if (!making->at_once) {
		read_spans(making, timeline->from, timeline->to, add_span);
		read_sums(making, add_span);
	}
	name_threads(making);
	fill_cells(making);
	drop_lines(making);
	timeline->refused += making->full;
	timeline->names = budget_trim(making->budget, timeline->names, making->names_room * sizeof(*timeline->names),
		timeline->name_count * sizeof(*timeline->names));
	timeline->spans = budget_trim(making->budget, timeline->spans, making->spans_room * sizeof(*timeline->spans),
		timeline->span_count * sizeof(*timeline->spans));
	budget_free(making->budget, making->named, making->named_room * sizeof(*making->named));
	budget_free(making->budget, making->met, making->met_room * sizeof(*making->met));
	hash_clear(&making->by_name);
	hash_clear(&making->by_thread);
	free(making->known_as);
	free(making);
}

static struct answer *make(const struct request *request, const struct moment *moment)
{
	struct timeline *timeline = util_alloc(sizeof(*timeline));
	const struct epoch *epoch;
	struct trace_counts counts;

	timeline->answer = answer_begin(&timeline_kind, moment);
	epoch = timeline->answer.epoch;
	if (!epoch)
		return &timeline->answer;
	counts = trace_counts(epoch->trace);
	timeline->now = epoch_now(epoch);
	timeline->traced = events_are_traced(epoch);
	timeline->kept_from = span_rows_sums_from(trace_rows(epoch->trace));
	timeline->exact_from = span_rows_from(trace_rows(epoch->trace));
	timeline->events = counts.events;
	timeline->lost = counts.lost;
	timeline->unmatched = counts.pairs.beginnings + counts.pairs.ends;
	timeline->late = counts.late;
	timeline->refused = counts.pairs.refused + span_rows_refused(trace_rows(epoch->trace));
	fill(timeline, (const struct timeline_request *)request);
	timeline->answer.begun = timeline->count;
	timeline->answer.partial = request->excerpt.until_ns && !trace_is_whole(epoch->trace, timeline->to);
	return &timeline->answer;
}

static void free_answer(struct answer *answer)
{
	struct timeline *timeline = (struct timeline *)answer;
	size_t cells = (size_t)timeline->count * timeline->columns;
	struct budget *budget = timeline->budget;

	if (!answer->epoch && !timeline->machine_count)
		return;
	budget_free(budget, timeline->cells, timeline->cells ? cells * sizeof(*timeline->cells) + 1 : 0);
	budget_free(budget, timeline->threads, timeline->threads ?
		timeline->thread_count * sizeof(*timeline->threads) + 1 : 0);
	budget_free(budget, timeline->names, timeline->name_count * sizeof(*timeline->names));
	budget_free(budget, timeline->spans, timeline->span_count * sizeof(*timeline->spans));
	free(timeline->rows);
}

const char *timeline_title(const struct timeline *timeline, uint64_t machine, uint32_t thread)
{
	const struct timeline_thread key = { (uint32_t)machine, thread, "" }, *found = timeline->thread_count ?
		bsearch(&key, timeline->threads, timeline->thread_count, sizeof(key), by_thread) : NULL;

	return thread == EVENT_NONE ? "idle" : found ? found->title : "a thread";
}

const struct answer_kind timeline_kind = {
	.name = "timeline", .request_size = sizeof(struct timeline_request), .make = make, .free = free_answer,
};
