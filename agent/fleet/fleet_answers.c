/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "fleet.h"
#include "fleet_names.h"
#include "fleet_state.h"

/* The ns of CPU time that a weight of 1 stands for. It is taken from the table, for the rate may have changed since. */
static uint64_t period(const struct fleet_machine *machine)
{
	const struct table *table = machine->functions ? machine->functions->table : NULL;

	if (table && table->weight && table->time)
		return table->time / table->weight;
	return machine->vitals && machine->vitals->rate ? NS_PER_SECOND / machine->vitals->rate : 0;
}

/* The function's row in the sum; a new one is added. */
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
	const struct function_table *part = machine->functions;
	uint64_t each = period(machine);

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
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct table *table = machine->functions->table;
	uint64_t each = period(machine), span = table->to - table->from;

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
		if (fleet->machines[i].functions && fleet->machines[i].functions->table)
			add_table(fleet, i, sum);
	for (size_t i = 0; i < sum->count; i++)
		fleet->places[sum->rows[i].function] = 0;
	return sum;
}

/* All CPUs of a machine as one. `trend` gets the sum of their trends; CPUs that share a trend count it once. */
static struct cpu_vitals sum_cpus(const struct fleet_machine *machine, struct cpu_trend *trend)
{
	const struct vitals *part = machine->vitals;
	struct cpu_vitals sum = { .enabled = true, .series.trend = trend->mode };
	uint64_t each = period(machine), (*last)[MODES] = NULL;

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

static void add_trend(const struct fleet *fleet, size_t index, struct function_row *row)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct function_table *part = machine->functions;

	for (size_t i = 0; part && i < part->visible_count; i++) {
		if (fleet_map_get(&machine->map, part->visible[i].function) != row->function)
			continue;
		for (int k = 0; k < TABLE_TREND; k++)
			row->trend[k] += part->visible[i].trend[k] * period(machine);
		if (part->visible[i].line && !row->line)
			row->line = part->visible[i].line;
	}
}

static void sum_visible(const struct fleet *fleet, struct function_table *functions)
{
	const struct function_request *request = &fleet->function_request;

	functions->visible_count = request->visible_count;
	functions->visible = util_alloc(request->visible_count * sizeof(*functions->visible));
	for (size_t i = 0; i < request->visible_count; i++) {
		functions->visible[i].function = request->visible[i];
		for (size_t k = 0; k < fleet->count; k++)
			add_trend(fleet, k, &functions->visible[i]);
	}
}

/* Each machine's share of the selected function. */
static void sum_selected(const struct fleet *fleet, struct function_table *functions)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const struct fleet_machine *machine = &fleet->machines[i];
		const struct table *table = machine->functions ? machine->functions->table : NULL;
		struct function_share *share = &functions->machines[i];

		share->epoch = machine->functions ? epoch_hold(machine->functions->answer.epoch) : NULL;
		for (size_t k = 0; table && k < table->count; k++)
			if (fleet_map_get(&machine->map, table->rows[k].function) == functions->selected)
				share->total += table->rows[k].total * period(machine);
	}
}

/* Adds a machine's remarks, each with the machine's name before it. */
static void add_note(struct vitals *vitals, const char *name, const char *note)
{
	size_t used = strlen(vitals->note);

	while (*note && used + 1 < sizeof(vitals->note)) {
		size_t size = strcspn(note, VITALS_NOTES);

		util_print(vitals->note + used, sizeof(vitals->note) - used, "%s%s: %.*s",
			used ? VITALS_NOTES : "", name, (int)size, note);
		used += strlen(vitals->note + used);
		note += size + strspn(note + size, VITALS_NOTES);
	}
}

/* The closer a link is to giving samples, the higher its rank. */
static const int link_ranks[] = {
	[LINK_NO_PORT] = 0, [LINK_LOST] = 1, [LINK_CONNECTING] = 2, [LINK_TAKEN] = 3,
	[LINK_NOT_OPENED] = 4, [LINK_NO_HELLO] = 5, [LINK_SILENT] = 6, [LINK_UP] = 7,
};

/* The fleet has the best state of any machine. It is running if all machines whose link is up are. */
static void sum_states(const struct fleet *fleet, struct vitals *vitals)
{
	size_t up = 0, running = 0, unsampled = 0;

	vitals->vm = VM_GONE;
	vitals->link = LINK_NO_PORT;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct vitals *part = fleet->machines[i].vitals;
		struct machine_vitals *machine = &vitals->machines[i];

		snprintf(machine->name, sizeof(machine->name), "%s", fleet->names[i]);
		if (!part)
			continue;
		machine->known = true;
		machine->vm = part->vm;
		machine->link = part->link;
		machine->running = vitals_record(part->running, part->link, part->vm);
		machine->cpu_count = part->cpu_count;
		up += part->link == LINK_UP;
		running += part->link == LINK_UP && part->running;
		unsampled += part->unsampled;
		vitals->vm = part->vm < vitals->vm ? part->vm : vitals->vm;
		if (link_ranks[part->link] > link_ranks[vitals->link])
			vitals->link = part->link;
		if (part->kept && vitals->kept == KEPT_NONE)
			vitals->kept = part->kept;
		vitals->lost_guest += part->lost_guest;
		vitals->lost_host += part->lost_host;
		vitals->lost_before += part->lost_before;
		vitals->skipped_bytes += part->skipped_bytes;
		add_note(vitals, fleet->names[i], part->note);
	}
	vitals->running = up != 0 && running == up;
	vitals->unsampled = unsampled == fleet->count;
	if (up)
		vitals->kept = KEPT_NONE;		/* a wish goes to the machines that can hear now */
}

struct vitals *fleet_vitals(struct fleet *fleet, uint64_t now)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	vitals->answer = (struct answer) { .kind = &vitals_kind, .begun = true };
	vitals->machine_count = fleet->count;
	vitals->machines = util_alloc(fleet->count * sizeof(*vitals->machines));
	vitals->cpus = util_alloc(fleet->count * sizeof(*vitals->cpus));
	vitals->trends = util_alloc(fleet->count * sizeof(*vitals->trends));
	vitals->cpu_count = (uint32_t)fleet->count;
	vitals->now = now - fleet->midnight;
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->machines[i].vitals)
			vitals->cpus[i] = sum_cpus(&fleet->machines[i], &vitals->trends[i]);
	sum_states(fleet, vitals);
	return vitals;
}

struct function_table *fleet_functions(struct fleet *fleet, uint64_t now)
{
	struct function_table *functions = util_alloc(sizeof(*functions));

	functions->answer = (struct answer) {
		.kind = &function_table_kind, .begun = true, .symbols = fleet_names_symbols(fleet->functions),
	};
	functions->machine_count = fleet->count;
	functions->machines = util_alloc(fleet->count * sizeof(*functions->machines));
	functions->selected = fleet->function_request.selected;
	functions->filter = fleet->function_request.request.excerpt.filter;
	functions->table = sum_tables(fleet, now - fleet->midnight);
	sum_visible(fleet, functions);
	sum_selected(fleet, functions);
	return functions;
}
