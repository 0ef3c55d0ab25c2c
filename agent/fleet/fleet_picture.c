/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/session/picture.h"
#include "fleet.h"
#include "fleet_names.h"
#include "fleet_state.h"

/* ns of a CPU for which a weight of 1 stands: as it was sampled, whatever the rate is by now. */
static uint64_t period(const struct picture *part)
{
	const struct table *table = part->table;

	if (table && table->weight && table->time)
		return table->time / table->weight;
	return part->rate ? NS_PER_SECOND / part->rate : 0;
}

static struct row *row_of(struct fleet *fleet, struct table *table, uint32_t function)
{
	if (function >= fleet->place_count) {
		size_t count = 2 * (size_t)function + 256;

		budget_charge(fleet->budget, (count - fleet->place_count) * sizeof(*fleet->places));
		fleet->places = util_grow(fleet->places, count, sizeof(*fleet->places));
		memset(fleet->places + fleet->place_count, 0,
			(count - fleet->place_count) * sizeof(*fleet->places));
		fleet->place_count = count;
	}
	if (fleet->places[function])
		return &table->rows[fleet->places[function] - 1];
	fleet->places[function] = (uint32_t)table->count + 1;
	return table_add(table, function);
}

static void add_rows(struct fleet *fleet, size_t index, struct table *sum)
{
	struct fleet_machine *machine = &fleet->machines[index];
	const struct picture *part = machine->part;
	uint64_t each = period(part);

	for (size_t i = 0; i < part->table->count; i++) {
		const struct row *row = &part->table->rows[i];
		uint32_t function = fleet_names_map(fleet->functions, &machine->map, part,
			row->function);
		struct row *to = row_of(fleet, sum, function);

		to->self += row->self * each;
		to->total += row->total * each;
		to->samples += row->samples;
		if (row->self || row->total)
			to->cpus[0] |= UINT64_C(2) << index;
	}
}

static void add_table(struct fleet *fleet, size_t index, struct table *sum)
{
	const struct picture *part = fleet->machines[index].part;
	const struct table *table = part->table;
	uint64_t each = period(part), span = table->to - table->from;

	sum->weight += table->weight * each;
	sum->missed += table->missed * each;
	sum->samples += table->samples;
	for (int mode = 0; mode < MODES; mode++)
		sum->mode[mode] += table->mode[mode] * each;
	if (span > sum->to - sum->from)
		sum->from = sum->to - span;
	add_rows(fleet, index, sum);
}

static struct table *sum_tables(struct fleet *fleet, uint64_t now)
{
	struct table *sum = table_new(fleet->budget, 0, 1);

	sum->from = sum->to = now;
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->machines[i].part && fleet->machines[i].part->table)
			add_table(fleet, i, sum);
	for (size_t i = 0; i < sum->count; i++)
		fleet->places[sum->rows[i].function] = 0;
	return sum;
}

/* All CPUs of a machine as one, whose trend is added up in `trend`. */
static struct picture_cpu sum_cpus(const struct picture *part, struct cpu_trend *trend)
{
	struct picture_cpu sum = { .enabled = true, .series.trend = trend->mode };
	uint64_t each = period(part), (*last)[MODES] = NULL;

	for (uint32_t i = 0; part->cpus && i < part->cpu_count; i++) {
		const struct cpu_series *series = &part->cpus[i].series;

		for (int mode = 0; mode < MODES; mode++) {
			sum.series.mode[mode] += series->mode[mode] * each;
			for (int k = 0; series->trend && series->trend != last && k < TABLE_TREND; k++)
				trend->mode[k][mode] += series->trend[k][mode] * each;
		}
		last = series->trend ? series->trend : last;
		sum.series.missed += series->missed * each;
	}
	return sum;
}

static void add_trend(const struct fleet *fleet, size_t index, struct picture_row *row)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct picture *part = machine->part;

	for (size_t i = 0; part && i < part->visible_count; i++) {
		if (fleet_map_get(&machine->map, part->visible[i].function) != row->function)
			continue;
		for (int k = 0; k < TABLE_TREND; k++)
			row->trend[k] += part->visible[i].trend[k] * period(part);
		if (part->visible[i].line && !row->line)
			row->line = part->visible[i].line;
	}
}

static void sum_visible(const struct fleet *fleet, struct picture *picture)
{
	const struct session_wish *wish = &fleet->wish;

	picture->visible_count = wish->visible_count;
	picture->visible = util_alloc(wish->visible_count * sizeof(*picture->visible));
	for (size_t i = 0; i < wish->visible_count; i++) {
		picture->visible[i].function = wish->visible[i];
		for (size_t k = 0; k < fleet->count; k++)
			add_trend(fleet, k, &picture->visible[i]);
	}
}

/* How much of the selected function each machine has. */
static void sum_selected(const struct fleet *fleet, struct picture *picture)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const struct fleet_machine *machine = &fleet->machines[i];
		const struct table *table = machine->part ? machine->part->table : NULL;

		for (size_t k = 0; table && k < table->count; k++)
			if (fleet_map_get(&machine->map, table->rows[k].function) ==
					picture->selected)
				picture->machines[i].total +=
					table->rows[k].total * period(machine->part);
	}
}

/* Each remark with the machine's name. */
static void add_note(struct picture *picture, const char *name, const char *note)
{
	size_t used = strlen(picture->note);

	while (*note && used + 1 < sizeof(picture->note)) {
		size_t size = strcspn(note, PICTURE_NOTES);

		util_print(picture->note + used, sizeof(picture->note) - used, "%s%s: %.*s",
			used ? PICTURE_NOTES : "", name, (int)size, note);
		used += strlen(picture->note + used);
		note += size + strspn(note + size, PICTURE_NOTES);
	}
}

/* The nearer to samples, the better. */
static const int link_ranks[] = {
	[LINK_NO_PORT] = 0, [LINK_LOST] = 1, [LINK_CONNECTING] = 2, [LINK_TAKEN] = 3,
	[LINK_NOT_OPENED] = 4, [LINK_NO_HELLO] = 5, [LINK_SILENT] = 6, [LINK_UP] = 7,
};

/* The best of them; running: each that could be is. */
static void sum_states(const struct fleet *fleet, struct picture *picture)
{
	size_t up = 0, running = 0;

	picture->vm = VM_GONE;
	picture->link = LINK_NO_PORT;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct picture *part = fleet->machines[i].part;
		struct picture_machine *machine = &picture->machines[i];

		snprintf(machine->name, sizeof(machine->name), "%s", fleet->names[i]);
		if (!part)
			continue;
		machine->epoch = part->epoch ? epoch_hold(part->epoch) : NULL;
		machine->known = true;
		machine->vm = part->vm;
		machine->link = part->link;
		machine->running = picture_records(part->running, part->link, part->vm);
		machine->cpu_count = part->cpu_count;
		up += part->link == LINK_UP;
		running += part->link == LINK_UP && part->running;
		picture->vm = part->vm < picture->vm ? part->vm : picture->vm;
		if (link_ranks[part->link] > link_ranks[picture->link])
			picture->link = part->link;
		if (part->kept && picture->kept == KEPT_NONE)
			picture->kept = part->kept;
		picture->lost_guest += part->lost_guest;
		picture->lost_host += part->lost_host;
		picture->lost_before += part->lost_before;
		picture->skipped_bytes += part->skipped_bytes;
		add_note(picture, fleet->names[i], part->note);
	}
	picture->running = up != 0 && running == up;
	if (up)
		picture->kept = KEPT_NONE;		/* those that can hear are asked */
}

struct picture *fleet_picture(struct fleet *fleet, uint64_t now)
{
	struct picture *picture = util_alloc(sizeof(*picture));

	picture->machine_count = fleet->count;
	picture->machines = util_alloc(fleet->count * sizeof(*picture->machines));
	picture->cpus = util_alloc(fleet->count * sizeof(*picture->cpus));
	picture->trends = util_alloc(fleet->count * sizeof(*picture->trends));
	picture->cpu_count = (uint32_t)fleet->count;
	picture->now = now - fleet->midnight;
	picture->symbols = fleet_names_symbols(fleet->functions);
	picture->selected = fleet->wish.selected;
	picture->generation = ++fleet->generation;
	picture->filter = fleet->wish.filter;
	picture->table = sum_tables(fleet, picture->now);
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->machines[i].part)
			picture->cpus[i] = sum_cpus(fleet->machines[i].part,
				&picture->trends[i]);
	sum_states(fleet, picture);
	sum_visible(fleet, picture);
	sum_selected(fleet, picture);
	return picture;
}
