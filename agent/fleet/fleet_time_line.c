/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

struct time_line_request fleet_time_line_request(const struct fleet *fleet)
{
	return fleet->line_request;
}

static const struct time_line *line_of(const struct fleet *fleet, size_t machine)
{
	const struct time_line *line = fleet->machines[machine].line;

	return line && line->series.count && line->of == fleet->line_request.of ? line : NULL;
}

/* Slots of the sum are as wide as the widest: those of one width nest in those of the next. */
static void lay_out(const struct fleet *fleet, struct series *sum, uint64_t now)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const struct time_line *line = line_of(fleet, i);

		if (line && line->series.width > sum->width)
			sum->width = line->series.width;
	}
	for (size_t i = 0; i < fleet->count; i++) {
		const struct time_line *line = line_of(fleet, i);
		size_t count;

		if (!line)
			continue;
		count = (size_t)((line->series.count * line->series.width + sum->width - 1) / sum->width);
		sum->count = count > sum->count ? count : sum->count;
	}
	if (!sum->count)
		return;
	if (sum->count > SERIES_SLOTS)
		sum->count = SERIES_SLOTS;
	sum->begin = (now / sum->width + 1 - sum->count) * sum->width;
}

/* A machine's slots end with its own now, as those of the sum do with the fleet's. */
static void add(struct series *sum, const struct series *part, uint64_t each)
{
	size_t ratio = (size_t)(sum->width / part->width);

	for (size_t i = 0; i < part->count; i++) {
		size_t ago = (part->count - 1 - i) / ratio;
		struct series_slot *to = &sum->slots[sum->count - 1 - (ago < sum->count ? ago : sum->count - 1)];

		to->whole += part->slots[i].whole * each;
		to->part += part->slots[i].part * each;
		for (int mode = 0; mode < MODES; mode++)
			to->mode[mode] += part->slots[i].mode[mode] * each;
	}
}

struct time_line *fleet_time_line(struct fleet *fleet, uint64_t now)
{
	struct time_line *sum = util_alloc(sizeof(*sum));

	sum->answer = (struct answer) { .kind = &time_line_kind, .begun = true };
	sum->of = fleet->line_request.of;
	sum->now = now - fleet->origin;
	lay_out(fleet, &sum->series, sum->now);
	for (size_t i = 0; i < fleet->count; i++)
		if (line_of(fleet, i))
			add(&sum->series, &line_of(fleet, i)->series, fleet_period(&fleet->machines[i], 0, 0));
	return sum;
}
