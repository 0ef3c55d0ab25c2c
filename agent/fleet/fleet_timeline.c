/* SPDX-License-Identifier: MIT */
/*
 * The timeline over all machines: the rows of each, one machine after another, on one axis of the fleet's time. All are
 * asked for columns of one width. Where theirs do not begin with the axis' own, as while the window is live, a cell
 * is shown in the column that has its middle.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/timeline.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

enum { ROWS_LEAST = 2 };		/* of a machine: a CPU and a thread */

static const struct timeline_request *timeline_asked(const struct fleet *fleet)
{
	return &fleet->requests[FLEET_TIMELINE].timeline;
}

/* ns that a column has in a window of a given width; 0: the window is all there is. */
static uint64_t timeline_width(const struct fleet *fleet)
{
	struct timeline given = { .to = timeline_asked(fleet)->request.excerpt.window_ns };

	timeline_columns(&given, timeline_asked(fleet)->columns, 0);
	return given.to ? given.each : 0;
}

/* Its newest answer, if it can be shown on the axis; NULL: there is none, or one to another width. */
static const struct timeline *timeline_part(const struct fleet *fleet, size_t index)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct timeline *part = machine->timeline;

	if (!part || !part->now || !machine->vitals || machine->until == IN_NO_WINDOW)
		return NULL;
	return !timeline_width(fleet) || part->each == timeline_width(fleet) ? part : NULL;
}

/* Likewise, if it has rows. */
static const struct timeline *shown_part(const struct fleet *fleet, size_t index)
{
	const struct timeline *part = timeline_part(fleet, index);

	return part && part->count ? part : NULL;
}

/* ---- what a machine is asked ---- */

/* The widest column of all is that of each, and an eighth more at most, so that it stays the same for a while. */
static uint64_t widest(const struct fleet *fleet)
{
	uint64_t each = 0, step = 1;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct timeline *part = shown_part(fleet, i);
		struct timeline range = { .from = part ? part->from : 0, .to = part ? part->to : 0 };

		timeline_columns(&range, timeline_asked(fleet)->columns, 0);
		each = part && range.each > each ? range.each : each;
	}
	while (each / step >= 16)
		step *= 2;
	return (each + step - 1) / step * step;
}

void fleet_ask_timeline(const struct fleet *fleet, size_t index, struct timeline_request *request)
{
	uint64_t sharing = 0;

	for (size_t i = 0; i < fleet->count; i++)
		sharing += shown_part(fleet, i) != NULL;
	if (sharing && request->rows)
		request->rows = request->rows / sharing > ROWS_LEAST ? request->rows / sharing : ROWS_LEAST;
	request->each = timeline_width(fleet) ? timeline_width(fleet) : widest(fleet);
	if (request->focus_machine != index)
		request->focus = EVENT_NONE;
	if (request->machine != index) {
		request->of_cpu = request->at = 0;
		request->of = EVENT_NONE;
	}
	if (request->at)
		request->at = fleet_own_time(fleet, &fleet->machines[index], request->at);
	request->focus_machine = request->machine = 0;
}

/* ---- the axis, and what is told of all ---- */

static void timeline_add_books(const struct fleet *fleet, size_t index, struct timeline *timeline)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct timeline *part = machine->timeline;
	uint64_t kept_from = fleet_time(fleet, machine, part->kept_from);
	uint64_t exact_from = fleet_time(fleet, machine, part->exact_from);

	timeline->kept_from = kept_from > timeline->kept_from ? kept_from : timeline->kept_from;
	timeline->exact_from = exact_from > timeline->exact_from ? exact_from : timeline->exact_from;
	timeline->traced = timeline->traced || part->traced;
	timeline->untraced |= part->traced ? 0 : 1u << index;
	timeline->stateless |= part->stateless && part->count ? 1u << index : 0;
	timeline->events += part->events;
	timeline->lost += part->lost;
	timeline->unmatched += part->unmatched;
	timeline->late += part->late;
	timeline->refused += part->refused;
	timeline->cpus_more += part->cpus_more;
	timeline->threads_more += part->threads_more;
	timeline->answer.partial = timeline->answer.partial || part->answer.partial;
}

/* It ends where the last machine's range does, and is as long as the longest. */
static void timeline_lay_out(const struct fleet *fleet, struct timeline *timeline)
{
	uint64_t to = 0, length = 0, each = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct timeline *part = shown_part(fleet, i);
		uint64_t end = part ? fleet_time(fleet, &fleet->machines[i], part->to) : 0;

		to = end > to ? end : to;
		length = part && part->to - part->from > length ? part->to - part->from : length;
		each = part && part->each > each ? part->each : each;
	}
	timeline->to = to ? to : timeline->to;
	timeline->from = timeline->to - (length < timeline->to ? length : timeline->to);
	timeline_columns(timeline, timeline_asked(fleet)->columns, each);
}

/* ---- rows ---- */

/* False: the budget refuses, and there are no rows. */
static bool make_room(struct timeline *timeline, uint32_t rows, uint32_t threads, uint32_t names)
{
	size_t bytes = (size_t)rows * timeline->columns * sizeof(*timeline->cells) + 1;
	size_t thread_bytes = threads * sizeof(*timeline->threads) + 1, name_bytes = names * sizeof(*timeline->names);

	timeline->rows = util_alloc((rows + 1) * sizeof(*timeline->rows));
	timeline->cells = budget_resize(timeline->budget, NULL, 0, bytes);
	timeline->threads = budget_resize(timeline->budget, NULL, 0, thread_bytes);
	timeline->names = budget_resize(timeline->budget, NULL, 0, name_bytes);
	if (timeline->cells && timeline->threads && timeline->names)
		return true;
	budget_free(timeline->budget, timeline->cells, timeline->cells ? bytes : 0);
	budget_free(timeline->budget, timeline->threads, timeline->threads ? thread_bytes : 0);
	budget_free(timeline->budget, timeline->names, timeline->names ? name_bytes : 0);
	timeline->cells = NULL;
	timeline->threads = NULL;
	timeline->names = NULL;
	return false;
}

/* By a machine's own name: that in the sum, where its names begin with `first`. 0: there is no room for so many. */
static uint16_t name_at(uint32_t first, uint16_t name)
{
	return name && first + name <= UINT16_MAX ? (uint16_t)(first + name) : 0;
}

static void copy_cells(const struct timeline *part, const struct timeline_row *row, const struct timeline *timeline,
	struct timeline_row *to, int64_t ahead, uint32_t first)
{
	for (uint32_t column = 0; column < timeline->columns; column++) {
		int64_t middle = (int64_t)(timeline->from + column * timeline->each + timeline->each / 2) - ahead;
		int64_t at = middle - (int64_t)part->from;

		to->cells[column] = (struct timeline_cell) { .state = TIMELINE_UNKNOWN };
		if (at < 0 || (uint64_t)at / part->each >= part->columns)
			continue;
		to->cells[column] = row->cells[(uint64_t)at / part->each];
		to->cells[column].name = name_at(first, to->cells[column].name);
	}
}

static struct timeline_span span_at(struct timeline_span span, int64_t ahead, uint32_t first)
{
	span.begin += (uint64_t)ahead;
	span.end += (uint64_t)ahead;
	span.name = name_at(first, span.name);
	span.handler = name_at(first, span.handler);
	return span;
}

/* That of the row which is asked for. At a time of which the machine's range has nothing, nothing is known. */
static void copy_moment(const struct fleet *fleet, size_t index, const struct timeline *part,
	struct timeline *timeline, uint32_t first)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	uint64_t at = timeline_asked(fleet)->at, own = at ? fleet_own_time(fleet, machine, at) : part->to - 1;
	uint64_t nearest = own < part->from ? part->from : own < part->to ? own : part->to - 1;
	int64_t ahead = fleet_ahead(fleet, machine);
	struct timeline_moment *moment = &timeline->moment;

	*moment = part->moment;
	if (own != nearest)
		*moment = (struct timeline_moment) { .of_cpu = moment->of_cpu, .of = moment->of, .time = moment->time,
			.before = moment->before, .after = moment->after };
	moment->machine = index;
	moment->now = span_at(moment->now, ahead, first);
	moment->inside = span_at(moment->inside, ahead, first);
	moment->pair = span_at(moment->pair, ahead, first);
	moment->lock = span_at(moment->lock, ahead, first);
	moment->hold = span_at(moment->hold, ahead, first);
	moment->wake = span_at(moment->wake, ahead, first);
	moment->before = fleet_time(fleet, machine, moment->before);
	moment->after = fleet_time(fleet, machine, moment->after);
	if (moment->time != nearest)			/* its answer to that is still to come */
		moment->time = 0;
	else if (!at || at >= timeline->to)
		moment->time = timeline->to - 1;
	else
		moment->time = at < timeline->from ? timeline->from : at;
}

static void add_part(const struct fleet *fleet, size_t index, struct timeline *timeline)
{
	const struct timeline *part = timeline_part(fleet, index);
	int64_t ahead = fleet_ahead(fleet, &fleet->machines[index]);
	uint32_t first = timeline->name_count - 1;	/* the first name of each is "" */

	for (uint32_t i = 0; i < part->count; i++) {
		struct timeline_row *to = &timeline->rows[timeline->count];

		*to = part->rows[i];
		to->machine = (uint32_t)index;
		to->cells = &timeline->cells[(size_t)timeline->count++ * timeline->columns];
		copy_cells(part, &part->rows[i], timeline, to, ahead, first);
	}
	for (uint32_t i = 0; i < part->thread_count; i++) {
		timeline->threads[timeline->thread_count] = part->threads[i];
		timeline->threads[timeline->thread_count++].machine = (uint32_t)index;
	}
	timeline->refused += first + part->name_count > UINT16_MAX;
	for (uint32_t i = 1; i < part->name_count; i++)
		memcpy(timeline->names[timeline->name_count++], part->names[i], TIMELINE_CALLED);
	if (index == timeline_asked(fleet)->machine)
		copy_moment(fleet, index, part, timeline, first);
}

struct timeline *fleet_timeline(struct fleet *fleet, uint64_t now)
{
	struct timeline *timeline = util_alloc(sizeof(*timeline));
	uint32_t rows = 0, threads = 0, names = 1;

	timeline->answer = (struct answer) { .kind = &timeline_kind, .begun = true };
	timeline->budget = fleet->budget;
	timeline->machine_count = (uint32_t)fleet->count;
	timeline->to = now - fleet->origin;
	timeline->moment.of = EVENT_NONE;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct timeline *part = timeline_part(fleet, i);

		if (fleet->machines[i].timeline && fleet->machines[i].timeline->now)
			timeline->now = now - fleet->origin;
		if (!part)
			continue;
		timeline_add_books(fleet, i, timeline);
		rows += part->count;
		threads += part->thread_count;
		names += part->name_count ? part->name_count - 1 : 0;
	}
	timeline_lay_out(fleet, timeline);
	if (!make_room(timeline, rows, threads, names)) {
		timeline->refused++;
		return timeline;
	}
	timeline->name_count = 1;
	memset(timeline->names[0], 0, TIMELINE_CALLED);
	for (size_t i = 0; i < fleet->count; i++)
		if (timeline_part(fleet, i))
			add_part(fleet, i, timeline);
	return timeline;
}
