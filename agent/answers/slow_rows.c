/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/threads.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "slow_rows.h"

enum { STACK_FRAMES = 12 };		/* of a row's stack, at most */

struct found {
	struct slow_span span;
	bool whole;			/* with its arguments and its result */
};

struct list {				/* of one name, in no order */
	uint32_t count;
	uint64_t enough;		/* a span that takes less is none of the longest */
	struct found found[SLOWEST];
};

/*
 * Of a row, in all: its waits for a lock; its requests of block devices; what a thread or a handler ran while it waited
 * for a CPU.
 */
struct share {
	uint32_t row, holder;		/* holder: in the longest one */
	struct span_name of;
	uint64_t ns, longest;
};

struct ready {				/* a row's wait for a CPU */
	uint32_t row, cpu;
	uint64_t from, to;
	uint64_t reach;			/* the latest `to` of all up to this one */
};

struct finding {
	const struct epoch *epoch;
	const struct slow_question *question;
	const struct span_name *names;
	struct list *lists;		/* by question->of */
	struct slow_row *rows;
	uint32_t count;
	struct hash by_thread;		/* of `rows` */
	struct share *shares;
	uint32_t share_count, share_room;
	struct hash by_name;		/* of `shares` */
	struct ready *readies;		/* in order of CPU and time */
	uint32_t ready_count, ready_room;
	bool full;
};

/* ---- which spans ---- */

static struct found *shortest(struct list *list)
{
	struct found *shortest = &list->found[0];

	for (uint32_t i = 1; i < list->count; i++)
		if (list->found[i].span.row.duration < shortest->span.row.duration)
			shortest = &list->found[i];
	return shortest;
}

/* It is there already, with more than its row tells. */
static bool has(const struct list *list, const struct span_row *row)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct span_row *is = &list->found[i].span.row;

		if (list->found[i].whole && is->end == row->end && is->duration == row->duration &&
				is->thread == row->thread && is->cpu == row->cpu)
			return true;
	}
	return false;
}

static void add_found(struct finding *finding, const struct found *found)
{
	const struct slow_question *question = finding->question;
	const struct span_row *row = &found->span.row;
	const struct span_name *name = &finding->names[row->name];

	if (row->lost || row->end < question->from || row->end >= question->to)
		return;
	for (uint32_t i = 0; i < question->count; i++) {
		const struct slow_of *of = &question->of[i];
		struct list *list = &finding->lists[i];

		if (of->kind != name->kind || of->number != name->number || row->duration < list->enough ||
				(of->part != SLOW_ALL && of->part != question->part(question->context, row)) ||
				(!found->whole && has(list, row)) || !question->passes(question->context, row))
			continue;
		*(list->count < SLOWEST ? &list->found[list->count++] : shortest(list)) = *found;
		if (list->count == SLOWEST)
			list->enough = shortest(list)->span.row.duration + 1;
	}
}

static void add_slowest(void *context, const struct slow_span *span)
{
	add_found(context, &(struct found) { .span = *span, .whole = true });
}

static void add_row(void *context, const struct span_row *row)
{
	add_found(context, &(struct found) { .span.row = *row });
}

static int longest_first(const void *left, const void *right)
{
	const struct span_row *a = &((const struct found *)left)->span.row;
	const struct span_row *b = &((const struct found *)right)->span.row;

	if (a->duration != b->duration)
		return a->duration < b->duration ? 1 : -1;
	return (a->end > b->end) - (a->end < b->end);
}

/* ---- a row ---- */

static void write_call(const struct finding *finding, struct slow_row *row, const struct found *found)
{
	const struct trace_span call = {
		.kind = row->of.kind, .number = row->of.number, .arguments = found->span.arguments,
		.results = found->span.results, .ended_by = found->span.ended_by,
	};
	char result[CALL_RESULT];
	size_t used;

	if (row->of.kind == SPAN_PAIR)
		call_text_pair(finding->epoch, &call, row->call);
	if (row->of.kind != SPAN_CALL)
		return;
	call_text(finding->epoch, &call, row->call);
	used = strlen(row->call);
	util_print(row->call + used, sizeof(row->call) - used, ") = %s", found->whole ?
		call_text_result(finding->epoch, found->span.result, result) : "?");
}

static void make_row(const struct finding *finding, struct slow_row *row, const struct slow_of *of,
	const struct found *found)
{
	const struct span_row *span = &found->span.row;

	*row = (struct slow_row) {
		.of = *of, .begin = span->end - span->duration, .end = span->end, .cpu = span->cpu,
		.thread = span_is_handler(of->kind) ? EVENT_NONE : span->thread, .holder = EVENT_NONE,
		.ahead = EVENT_NONE,
	};
	if (row->thread != EVENT_NONE)
		threads_title(finding->epoch->inputs.threads, row->thread, row->title, sizeof(row->title));
	call_text_stack(finding->epoch, span->stack, STACK_FRAMES, row->stack);
	write_call(finding, row, found);
}

static void make_rows(struct finding *finding)
{
	struct budget *budget = finding->epoch->inputs.budget;
	uint32_t count = 0;

	for (uint32_t i = 0; i < finding->question->count; i++)
		count += finding->lists[i].count;
	finding->rows = count ? budget_resize(budget, NULL, 0, count * sizeof(*finding->rows)) : NULL;
	finding->full = finding->full || (count && !finding->rows);
	for (uint32_t i = 0; i < finding->question->count && finding->rows; i++) {
		struct list *list = &finding->lists[i];

		if (list->count)
			qsort(list->found, list->count, sizeof(*list->found), longest_first);
		for (uint32_t k = 0; k < list->count; k++)
			make_row(finding, &finding->rows[finding->count++], &finding->question->of[i],
				&list->found[k]);
	}
}

/* ---- what threads did meanwhile ---- */

static void add_share(struct finding *finding, uint32_t row, const struct span_name *of, uint32_t holder, uint64_t ns)
{
	uint64_t hash = hash_pair(&finding->by_name, hash_mix(of->number, of->kind), row);
	uint32_t at = 0, position;
	struct share *shares, *share;

	while ((position = hash_next(&finding->by_name, hash, &at)) != HASH_NONE)
		if (finding->shares[position].row == row && finding->shares[position].of.kind == of->kind &&
				finding->shares[position].of.number == of->number)
			break;
	if (position == HASH_NONE) {
		shares = budget_array(finding->epoch->inputs.budget, finding->shares, finding->share_count,
			&finding->share_room, sizeof(*shares));
		finding->shares = shares ? shares : finding->shares;
		if (!shares || !hash_add(&finding->by_name, hash, finding->share_count)) {
			finding->full = true;
			return;
		}
		position = finding->share_count++;
		shares[position] = (struct share) { .row = row, .of = *of };
	}
	share = &finding->shares[position];
	share->ns += ns;
	share->holder = ns > share->longest ? holder : share->holder;
	share->longest = ns > share->longest ? ns : share->longest;
}

static void add_ready(struct finding *finding, const struct ready *ready)
{
	struct ready *list = budget_array(finding->epoch->inputs.budget, finding->readies, finding->ready_count,
		&finding->ready_room, sizeof(*list));

	finding->full = finding->full || !list;
	if (!list)
		return;
	finding->readies = list;
	list[finding->ready_count++] = *ready;
}

/*
 * What the thread of a row did from `begin` to `end`. `other`: of a wait for a lock, the holder; of one for a CPU, that
 * one.
 */
static void add_part(struct finding *finding, uint32_t at, const struct span_name *did, uint32_t other, uint64_t begin,
	uint64_t end)
{
	struct slow_row *row = &finding->rows[at];
	uint64_t from = begin > row->begin ? begin : row->begin, to = end < row->end ? end : row->end;

	if (to <= from)
		return;
	if (did->kind == SPAN_THREAD)
		row->ran += to - from;
	else if (did->kind == SPAN_READY)
		row->ready += to - from;
	else if (did->kind == SPAN_SLEEP)
		*(did->number == SLEEP_BLOCKED ? &row->blocked : &row->slept) += to - from;
	if (did->kind == SPAN_READY && other != EVENT_NONE)
		add_ready(finding, &(struct ready) { .row = at, .cpu = other, .from = from, .to = to });
	if (did->kind != SPAN_LOCK && (did->kind != SPAN_PAIR || row->of.kind == SPAN_PAIR))
		return;
	row->locked += did->kind == SPAN_LOCK ? to - from : 0;
	add_share(finding, at, did, other, to - from);
}

static void add_span(struct finding *finding, uint32_t thread, const struct span_name *did, uint32_t other,
	uint64_t begin, uint64_t end)
{
	uint64_t hash = hash_pair(&finding->by_thread, thread, 0);
	uint32_t at = 0, position;

	if (did->kind != SPAN_THREAD && did->kind != SPAN_READY && did->kind != SPAN_SLEEP && did->kind != SPAN_LOCK &&
			(did->kind != SPAN_PAIR || !guest_events_is_block(finding->epoch->events,
			SPAN_EVENT(did->number))))
		return;
	while ((position = hash_next(&finding->by_thread, hash, &at)) != HASH_NONE)
		if (finding->rows[position].thread == thread)
			add_part(finding, position, did, other, begin, end);
}

static void add_ended(void *context, const struct span_row *row)
{
	struct finding *finding = context;
	const struct span_name *name = &finding->names[row->name];

	add_span(finding, row->thread, name, name->kind == SPAN_READY ? row->cpu : row->waker, row->end - row->duration,
		row->end);
}

/* The CPU that it will get is not known. */
static void add_open(void *context, const struct trace_span *span)
{
	add_span(context, (uint32_t)span->thread, &(struct span_name) { span->kind, span->number },
		span->kind == SPAN_LOCK ? (uint32_t)span->holder : EVENT_NONE, span->begin, UINT64_MAX);
}

static int by_cpu_and_time(const void *left, const void *right)
{
	const struct ready *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu > b->cpu ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

/* What a CPU ran from `begin` to `end`, for those who waited for it then. */
static void add_ahead(struct finding *finding, const struct span_name *ran, uint32_t cpu, uint64_t begin, uint64_t end)
{
	uint32_t low = 0, high = finding->ready_count;

	while (low < high) {			/* behind the last one that has begun by then */
		uint32_t at = low + (high - low) / 2;
		const struct ready *ready = &finding->readies[at];

		if (ready->cpu < cpu || (ready->cpu == cpu && ready->from < end))
			low = at + 1;
		else
			high = at;
	}
	while (low-- > 0 && finding->readies[low].cpu == cpu && finding->readies[low].reach > begin) {
		const struct ready *ready = &finding->readies[low];
		uint64_t from = begin > ready->from ? begin : ready->from, to = end < ready->to ? end : ready->to;

		if (from < to)
			add_share(finding, ready->row, ran, EVENT_NONE, to - from);
	}
}

static void add_ahead_of(void *context, const struct span_row *row)
{
	struct finding *finding = context;
	const struct span_name *name = &finding->names[row->name];

	if (name->kind == SPAN_THREAD)
		add_ahead(finding, &(struct span_name) { SPAN_THREAD, row->thread }, row->cpu, row->end - row->duration,
			row->end);
	else if (span_is_handler(name->kind))
		add_ahead(finding, name, row->cpu, row->end - row->duration, row->end);
}

/* Behind all that threads did: from `from` to `to`. */
static void find_ahead(struct finding *finding, uint64_t from, uint64_t to)
{
	struct ready *list = finding->readies;

	if (!finding->ready_count)
		return;
	qsort(list, finding->ready_count, sizeof(*list), by_cpu_and_time);
	for (uint32_t i = 0; i < finding->ready_count; i++)
		list[i].reach = i && list[i - 1].cpu == list[i].cpu && list[i - 1].reach > list[i].to ?
			list[i - 1].reach : list[i].to;
	span_rows_read(trace_rows(finding->epoch->trace), from, to, add_ahead_of, finding);
}

/* What a row has most of, of each kind. */
static void take_share(struct slow_row *row, const struct share *share)
{
	if (share->of.kind == SPAN_LOCK && share->ns > row->lock_ns) {
		row->lock = share->of.number;
		row->lock_ns = share->ns;
		row->holder = share->holder;
	} else if (share->of.kind == SPAN_THREAD && share->ns > row->ahead_ns) {
		row->ahead = (uint32_t)share->of.number;
		row->ahead_ns = share->ns;
	} else if (span_is_handler(share->of.kind) && share->ns > row->handler.ns) {
		row->handler = (struct slow_named) { share->of.kind, share->of.number, share->ns, "" };
	} else if (share->of.kind == SPAN_PAIR && share->ns > row->request.ns) {
		row->request = (struct slow_named) { share->of.kind, share->of.number, share->ns, "" };
		if (row->request.ns > row->end - row->begin)	/* several at once */
			row->request.ns = row->end - row->begin;
	}
}

static void find_parts(struct finding *finding)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (uint32_t i = 0; i < finding->count; i++) {
		const struct slow_row *row = &finding->rows[i];

		from = row->begin < from ? row->begin : from;
		to = row->end > to ? row->end : to;
		finding->full = finding->full || (row->thread != EVENT_NONE && !hash_add(&finding->by_thread,
			hash_pair(&finding->by_thread, row->thread, 0), i));
	}
	span_rows_read(trace_rows(finding->epoch->trace), from, to, add_ended, finding);
	pairs_under_way(trace_pairs(finding->epoch->trace), add_open, finding);
	find_ahead(finding, from, to);
	for (uint32_t i = 0; i < finding->share_count; i++)
		take_share(&finding->rows[finding->shares[i].row], &finding->shares[i]);
	for (uint32_t i = 0; i < finding->count; i++) {
		struct slow_row *row = &finding->rows[i];
		uint64_t known = row->ran + row->slept + row->blocked + row->ready;

		row->unknown = row->end - row->begin > known ? row->end - row->begin - known : 0;
		if (row->holder != EVENT_NONE)
			threads_title(finding->epoch->inputs.threads, row->holder, row->holder_title,
				sizeof(row->holder_title));
		if (row->ahead != EVENT_NONE)
			threads_title(finding->epoch->inputs.threads, row->ahead, row->ahead_title,
				sizeof(row->ahead_title));
		else if (row->ahead_ns)
			util_print(row->ahead_title, sizeof(row->ahead_title), "idle");
	}
}

uint32_t slow_rows_find(const struct epoch *epoch, const struct slow_question *question, struct slow_row **rows,
	bool *full)
{
	struct budget *budget = epoch->inputs.budget;
	struct finding finding = { .epoch = epoch, .question = question };
	size_t bytes = question->count * sizeof(struct list);

	*rows = NULL;
	finding.lists = bytes ? budget_resize(budget, NULL, 0, bytes) : NULL;
	*full = *full || (bytes && !finding.lists);
	if (!finding.lists)
		return 0;
	for (uint32_t i = 0; i < question->count; i++)
		finding.lists[i].count = finding.lists[i].enough = 0;
	hash_init(&finding.by_thread, budget);
	hash_init(&finding.by_name, budget);
	span_rows_names(trace_rows(epoch->trace), &finding.names);
	slowest_read(trace_slowest(epoch->trace), question->from, question->to, add_slowest, &finding);
	span_rows_read(trace_rows(epoch->trace), question->from, question->to, add_row, &finding);
	make_rows(&finding);
	find_parts(&finding);
	budget_free(budget, finding.lists, bytes);
	budget_free(budget, finding.shares, finding.share_room * sizeof(*finding.shares));
	budget_free(budget, finding.readies, finding.ready_room * sizeof(*finding.readies));
	hash_clear(&finding.by_thread);
	hash_clear(&finding.by_name);
	*full = *full || finding.full;
	*rows = finding.rows;
	return finding.count;
}

/* ---- texts ---- */

/* In percent, rounded. */
static unsigned part_of(const struct slow_row *row, uint64_t ns)
{
	double took = row->end > row->begin ? (double)(row->end - row->begin) : 1;

	return (unsigned)(100 * (double)ns / took + 0.5);
}

const char *slow_row_waited(const struct slow_row *row, char text[SLOW_WAITED])
{
	const struct { uint64_t ns; const char *what; } waits[] = {
		{ row->slept, "sleep" }, { row->blocked, "blocked" }, { row->ready, "cpu" },
	};
	size_t most = 0;
	const char *behind;

	if (row->thread == EVENT_NONE)
		return util_print(text, SLOW_WAITED, "-");
	for (size_t i = 1; i < sizeof(waits) / sizeof(*waits); i++)
		most = waits[i].ns > waits[most].ns ? i : most;
	if (part_of(row, row->lock_ns) && row->locked >= waits[most].ns / 2)	/* that is among its sleep */
		return util_print(text, SLOW_WAITED, "%s %u%%%s%s", row->lock_name, part_of(row, row->lock_ns),
			*row->holder_title ? ", " : "", row->holder_title);
	behind = waits[most].ns == row->ready ? row->ahead_title :
		waits[most].ns == row->blocked && row->request.ns >= row->blocked / 2 ? row->request.name : "";
	if (part_of(row, waits[most].ns))
		return util_print(text, SLOW_WAITED, "%s %u%%%s%s", waits[most].what, part_of(row, waits[most].ns),
			*behind ? ", " : "", behind);
	return row->ran > row->unknown ? util_print(text, SLOW_WAITED, "ran %u%%", part_of(row, row->ran)) :
		util_print(text, SLOW_WAITED, "not known");
}

const char *slow_row_parts(const struct slow_row *row, char text[SLOW_PARTS])
{
	const struct { uint64_t ns; const char *what; } parts[] = {
		{ row->ran, "ran" }, { row->slept, "slept" }, { row->blocked, "was blocked" },
		{ row->ready, "waited for a CPU" }, { row->unknown, "not known" },
	};
	size_t used;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && row->thread != EVENT_NONE; i++) {
		used = strlen(text);
		if (part_of(row, parts[i].ns))
			util_print(text + used, SLOW_PARTS - used, "%s%s %u%%", used ? ", " : "", parts[i].what,
				part_of(row, parts[i].ns));
	}
	used = strlen(text);
	if (part_of(row, row->lock_ns))
		util_print(text + used, SLOW_PARTS - used, "%swaited for %s %u%%%s%s", used ? "; " : "",
			row->lock_name, part_of(row, row->lock_ns), *row->holder_title ? ", held by " : "",
			row->holder_title);
	used = strlen(text);
	if (part_of(row, row->ready) && row->ahead_ns)
		util_print(text + used, SLOW_PARTS - used, "; meanwhile the CPU %s %s for %u%%",
			row->ahead == EVENT_NONE ? "was" : "ran", row->ahead_title, part_of(row, row->ahead_ns));
	used = strlen(text);
	if (part_of(row, row->handler.ns))
		util_print(text + used, SLOW_PARTS - used, "; %s ran for %u%%", row->handler.name,
			part_of(row, row->handler.ns));
	used = strlen(text);
	if (part_of(row, row->request.ns))
		util_print(text + used, SLOW_PARTS - used, "; its %s was under way for %u%%", row->request.name,
			part_of(row, row->request.ns));
	return text;
}
