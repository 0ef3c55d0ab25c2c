/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "slowest.h"

enum { BUDGET_PART = 64, MINUTES = 1024, FIRST_ROOM = 4 };

#define MINUTE (60 * NS_PER_SECOND)
#define NO_TOP 0xffffffffu

struct kept {
	struct span_row row;
	uint16_t ended_by;		/* as in struct slow_span */
	bool has_arguments;
	uint64_t words[];		/* the arguments, then the result or the results: as many as its kind has */
};

struct top {				/* of a name, in no order */
	uint32_t name, count, room;
	enum span_kind kind;
	struct kept *spans;		/* each takes size_of(kind) bytes */
};

struct minute {
	uint64_t number;
	struct top *tops;
	uint32_t count, room;
};

struct slowest {
	struct budget *budget;
	struct minute minutes[MINUTES];	/* by number */
	uint32_t count;
	uint32_t now;			/* the one to which spans are added: */
	uint64_t begin, end;		/* its times; the same: there is none yet */
	uint32_t tops[SPAN_NAMES];	/* of it, by name; NO_TOP: none */
	uint64_t enough[SPAN_NAMES];	/* a span of this name that takes less is none of the longest */
	size_t used;			/* bytes */
	uint64_t from, refused;
};

static const struct { size_t arguments, results; } told_words[SPAN_KINDS] = {
	[SPAN_CALL] = { CALL_ARGUMENTS, 1 }, [SPAN_PAIR] = { TRACE_VALUES, TRACE_VALUES },
};

static size_t size_of(enum span_kind kind)
{
	return sizeof(struct kept) + (told_words[kind].arguments + told_words[kind].results) * sizeof(uint64_t);
}

static struct kept *span_at(const struct top *top, uint32_t at)
{
	return (struct kept *)((char *)top->spans + at * size_of(top->kind));
}

struct slowest *slowest_new(struct budget *budget)
{
	struct slowest *slowest = util_alloc(sizeof(*slowest));

	slowest->budget = budget;
	memset(slowest->tops, 0xff, sizeof(slowest->tops));
	return slowest;
}

static void give_back(struct slowest *slowest, void *memory, size_t bytes)
{
	budget_free(slowest->budget, memory, bytes);
	slowest->used -= bytes;
}

static void free_minute(struct slowest *slowest, const struct minute *minute)
{
	for (uint32_t i = 0; i < minute->count; i++)
		give_back(slowest, minute->tops[i].spans, minute->tops[i].room * size_of(minute->tops[i].kind));
	give_back(slowest, minute->tops, minute->room * sizeof(struct top));
}

void slowest_free(struct slowest *slowest)
{
	if (!slowest)
		return;
	for (uint32_t i = 0; i < slowest->count; i++)
		free_minute(slowest, &slowest->minutes[i]);
	free(slowest);
}

/* False: it is the one to which spans are added. */
static bool drop_oldest(struct slowest *slowest)
{
	if (slowest->now == 0)
		return false;
	slowest->from = (slowest->minutes[0].number + 1) * MINUTE;
	free_minute(slowest, &slowest->minutes[0]);
	slowest->count--;
	slowest->now--;
	memmove(slowest->minutes, slowest->minutes + 1, slowest->count * sizeof(*slowest->minutes));
	return true;
}

/* The array with more room. The oldest minutes go where their memory is needed. NULL: there is none. */
static void *resize(struct slowest *slowest, void *array, size_t old, size_t bytes)
{
	size_t most = budget_share(slowest->budget, BUDGET_PART);
	void *made = NULL;

	do
		if (slowest->used + bytes - old <= most)
			made = budget_resize(slowest->budget, array, old, bytes);
	while (!made && drop_oldest(slowest));
	slowest->used += made ? bytes - old : 0;
	return made;
}

/* ---- the minute to which spans are added ---- */

/* The shortest of a full top; of equal ones, the one that ended last. */
static struct kept *shortest(const struct top *top)
{
	struct kept *found = span_at(top, 0);

	for (uint32_t i = 1; i < top->count; i++) {
		const struct span_row *row = &span_at(top, i)->row;

		if (row->duration < found->row.duration ||
				(row->duration == found->row.duration && row->end > found->row.end))
			found = span_at(top, i);
	}
	return found;
}

static void leave_minute(struct slowest *slowest)
{
	const struct minute *minute = &slowest->minutes[slowest->now];

	for (uint32_t i = 0; slowest->end && i < minute->count; i++) {
		slowest->tops[minute->tops[i].name] = NO_TOP;
		slowest->enough[minute->tops[i].name] = 0;
	}
	slowest->begin = slowest->end = 0;
}

static void enter_minute(struct slowest *slowest)
{
	const struct minute *minute = &slowest->minutes[slowest->now];

	for (uint32_t i = 0; i < minute->count; i++) {
		const struct top *top = &minute->tops[i];

		slowest->tops[top->name] = i;
		if (top->count == SLOWEST)
			slowest->enough[top->name] = shortest(top)->row.duration + 1;
	}
	slowest->begin = minute->number * MINUTE;
	slowest->end = slowest->begin + MINUTE;
}

/* False: that minute is gone, or is older than all for which there is room. */
static bool choose_minute(struct slowest *slowest, uint64_t time)
{
	uint64_t number = time / MINUTE;
	uint32_t at = slowest->count;

	while (at && slowest->minutes[at - 1].number >= number)
		at--;
	if (time < slowest->from || (at == 0 && slowest->count == MINUTES))
		return false;
	leave_minute(slowest);
	slowest->now = at;
	if (at == slowest->count || slowest->minutes[at].number != number) {
		if (slowest->count == MINUTES)
			drop_oldest(slowest);
		at = slowest->now;
		memmove(&slowest->minutes[at + 1], &slowest->minutes[at],
			(slowest->count - at) * sizeof(struct minute));
		slowest->minutes[at] = (struct minute) { .number = number };
		slowest->count++;
	}
	enter_minute(slowest);
	return true;
}

/* ---- spans ---- */

/* NULL: no memory. */
static struct top *have_top(struct slowest *slowest, uint32_t name, enum span_kind kind)
{
	struct minute *minute = &slowest->minutes[slowest->now];
	struct top *tops = minute->tops;

	if (slowest->tops[name] != NO_TOP)
		return &tops[slowest->tops[name]];
	if (minute->count == minute->room) {
		uint32_t room = 2 * minute->room + FIRST_ROOM;

		tops = resize(slowest, tops, minute->room * sizeof(*tops), room * sizeof(*tops));
		if (!tops)
			return NULL;
		minute = &slowest->minutes[slowest->now];	/* it may have moved */
		minute->tops = tops;
		minute->room = room;
	}
	slowest->tops[name] = minute->count;
	tops[minute->count] = (struct top) { .name = name, .kind = kind };
	return &tops[minute->count++];
}

/* Where it is to be written. NULL: no memory. */
static struct kept *have_place(struct slowest *slowest, struct top *top)
{
	if (top->count == SLOWEST)
		return shortest(top);
	if (top->count == top->room) {
		uint32_t room = top->room ? 2 * top->room : FIRST_ROOM;
		struct kept *spans = resize(slowest, top->spans, top->room * size_of(top->kind),
			room * size_of(top->kind));

		if (!spans)
			return NULL;
		top->spans = spans;
		top->room = room;
	}
	return span_at(top, top->count++);
}

static void keep_span(struct kept *place, const struct trace_span *span, uint32_t name)
{
	size_t arguments = told_words[span->kind].arguments, results = told_words[span->kind].results;

	place->row = span_row_of(span);
	place->row.name = name & (2 * SPAN_NAMES - 1);
	place->ended_by = span->ended_by;
	place->has_arguments = span->arguments;
	if (span->arguments)
		memcpy(place->words, span->arguments, arguments * sizeof(uint64_t));
	if (span->kind == SPAN_CALL)
		place->words[arguments] = span->result;
	else if (span->results)
		memcpy(place->words + arguments, span->results, results * sizeof(uint64_t));
}

void slowest_add(struct slowest *slowest, const struct trace_span *span, uint32_t name)
{
	bool now = span->end >= slowest->begin && span->end < slowest->end;
	struct kept *place;
	struct top *top;

	if (span->lost || (!now && !choose_minute(slowest, span->end)) ||
			span->end - span->begin < slowest->enough[name])
		return;
	top = have_top(slowest, name, span->kind);
	place = top ? have_place(slowest, top) : NULL;
	if (!place) {
		slowest->refused++;
		return;
	}
	keep_span(place, span, name);
	if (top->count == SLOWEST)
		slowest->enough[name] = shortest(top)->row.duration + 1;
}

uint64_t slowest_from(const struct slowest *slowest)
{
	return slowest->from;
}

uint64_t slowest_refused(const struct slowest *slowest)
{
	return slowest->refused;
}

static struct slow_span slow_span_of(const struct top *top, uint32_t at)
{
	const struct kept *kept = span_at(top, at);
	const uint64_t *results = kept->words + told_words[top->kind].arguments;

	return (struct slow_span) {
		.row = kept->row, .ended_by = kept->ended_by, .result = top->kind == SPAN_CALL ? *results : 0,
		.arguments = kept->has_arguments ? kept->words : NULL,
		.results = top->kind == SPAN_PAIR && kept->has_arguments ? results : NULL,
	};
}

void slowest_read(const struct slowest *slowest, uint64_t from, uint64_t to,
	void (*each)(void *context, const struct slow_span *span), void *context)
{
	for (uint32_t i = 0; i < slowest->count; i++) {
		const struct minute *minute = &slowest->minutes[i];

		for (uint32_t k = 0; minute->number >= from / MINUTE && k < minute->count; k++)
			for (uint32_t n = 0; n < minute->tops[k].count; n++) {
				const struct slow_span span = slow_span_of(&minute->tops[k], n);

				if (span.row.end >= from && span.row.end < to)
					each(context, &span);
			}
	}
}
