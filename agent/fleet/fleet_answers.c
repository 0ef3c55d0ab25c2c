/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "fleet.h"
#include "fleet_state.h"

uint64_t fleet_period(const struct fleet_machine *machine, uint64_t weight, uint64_t time)
{
	if (weight && time)
		return time / weight;
	return machine->vitals && machine->vitals->rate ? NS_PER_SECOND / machine->vitals->rate : 0;
}

static uint64_t period(const struct fleet_machine *machine)
{
	const struct table *table = machine->functions ? machine->functions->table : NULL;

	return fleet_period(machine, table ? table->weight : 0, table ? table->time : 0);
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

/* Where the functions of the machine's table come from. */
static struct fleet_origin origin_of(const struct fleet *fleet, size_t index)
{
	const struct function_table *part = fleet->machines[index].functions;

	return (struct fleet_origin) {
		.symbols = part->answer.symbols, .kernel = part->kernel, .by = part->by, .machine = fleet->names[index],
	};
}

/* Adds what the row had in the baseline, when the machine's period was `each`. */
static void add_base(const struct table *table, const struct row *row, uint64_t each, struct table *sum, struct row *to)
{
	const struct row_base *from = table->base && row->base ? &table->base->rows[row->base - 1] : NULL;
	struct row_base *base;

	if (!from || !sum->base)
		return;
	base = table_base_of(sum, to);
	base->self += from->self * each;
	base->total += from->total * each;
	base->samples += from->samples;
}

static uint64_t base_period(const struct fleet_machine *machine)
{
	const struct table_base *base = machine->functions->table->base;

	return base ? fleet_period(machine, base->weight, base->time) : 0;
}

static void add_rows(struct fleet *fleet, size_t index, struct table *sum)
{
	struct fleet_machine *machine = &fleet->machines[index];
	const struct function_table *part = machine->functions;
	const struct fleet_origin origin = origin_of(fleet, index);
	uint64_t each = period(machine), base_each = base_period(machine);

	for (size_t i = 0; i < part->table->count; i++) {
		const struct row *row = &part->table->rows[i];
		uint32_t function = fleet_ids_map(fleet->functions, &machine->map, &origin, row->function);
		struct row *to = row_of(fleet, sum, function);

		to->self += row->self * each;
		to->total += row->total * each;
		to->samples += row->samples;
		to->kernel += row->kernel * each;
		to->user += row->user * each;
		to->waits = row->waits > to->waits ? row->waits : to->waits;
		if (row->self || row->total)
			to->cpus[0] |= UINT64_C(2) << index;
		add_base(part->table, row, base_each, sum, to);
	}
}

static void add_base_whole(const struct fleet_machine *machine, struct table *sum)
{
	const struct table_base *base = machine->functions->table->base;
	uint64_t each = base_period(machine);

	if (!base || !sum->base)
		return;
	sum->base->weight += base->weight * each;
	sum->base->samples += base->samples;
	sum->base->time = sum->base->weight;
	if (base->to - base->from > sum->base->to - sum->base->from)
		sum->base->from = sum->base->to - (base->to - base->from);
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
	add_base_whole(machine, sum);
	add_rows(fleet, index, sum);
}

/* A machine's table counts once its rows are what is asked for now. */
static bool is_wanted(const struct fleet *fleet, const struct function_table *functions)
{
	return functions && functions->table &&
		functions->by == fleet->requests[FLEET_FUNCTIONS].request.excerpt.by;
}

static struct table *sum_tables(struct fleet *fleet, uint64_t now)
{
	struct table *sum = table_new(fleet->budget, 0, 1);

	sum->from = sum->to = now;
	if (fleet->requests[FLEET_FUNCTIONS].request.excerpt.base.until_ns) {
		table_add_base(sum);
		sum->base->from = sum->base->to = now;
	}
	for (size_t i = 0; i < fleet->count; i++)
		if (is_wanted(fleet, fleet->machines[i].functions))
			add_table(fleet, i, sum);
	sum->time = sum->weight;
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

/* Of the functions in which the row ran most on each machine, the sum tells the heaviest. */
static void add_ran(struct fleet *fleet, size_t index, const struct caller *ran, struct function_row *row)
{
	struct fleet_machine *machine = &fleet->machines[index];
	const struct fleet_origin origin = origin_of(fleet, index);
	uint64_t weight = ran->weight * period(machine);

	if (weight > row->ran.weight)
		row->ran = (struct caller) {
			fleet_ids_map(fleet->functions, &machine->map, &origin, ran->function), weight,
		};
}

static void add_visible(struct fleet *fleet, size_t index, struct function_row *row)
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
		if (part->tells_now)		/* such a row is of this machine alone */
			memcpy(row->now, part->visible[i].now, sizeof(row->now));
		add_ran(fleet, index, &part->visible[i].ran, row);
	}
}

static void sum_visible(struct fleet *fleet, struct function_table *functions)
{
	const struct function_request *request = &fleet->requests[FLEET_FUNCTIONS].functions;

	functions->visible_count = request->visible_count;
	functions->visible = util_alloc(request->visible_count * sizeof(*functions->visible));
	for (size_t i = 0; i < request->visible_count; i++) {
		functions->visible[i].function = request->visible[i];
		for (size_t k = 0; k < fleet->count; k++)
			add_visible(fleet, k, &functions->visible[i]);
	}
}

/* Each machine's share of the selected function; or what that thread does now, on its machine. */
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
		if (!is_wanted(fleet, machine->functions) || !machine->functions->tells_now)
			continue;
		functions->tells_now = true;
		if (machine->functions->time > functions->time)		/* of one, events may still be to come */
			functions->time = machine->functions->time;
		if (functions->selected == FUNCTION_NONE ||
				fleet_map_get(&machine->map, machine->functions->selected) != functions->selected)
			continue;
		functions->tells_selected = true;
		memcpy(functions->now, machine->functions->now, sizeof(functions->now));
		functions->lost = machine->functions->lost;
		memcpy(functions->next, machine->functions->next, sizeof(functions->next));
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
		if (link_ranks[part->link] >= link_ranks[vitals->link]) {
			vitals->by = part->by;
			vitals->link = part->link;
		}
		if (part->kept && vitals->kept == KEPT_NONE)
			vitals->kept = part->kept;
		machine->unsampled = part->sampler == SAMPLER_NONE;
		vitals->events.on |= part->events.on;
		vitals->events.rate += part->events.rate > 0 ? part->events.rate : 0;
		vitals->events.lost += part->events.lost;
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
	vitals->now = now - fleet->origin;
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
		.kind = &function_table_kind, .begun = true, .symbols = fleet_ids_symbols(fleet->functions),
	};
	functions->machine_count = fleet->count;
	functions->machines = util_alloc(fleet->count * sizeof(*functions->machines));
	functions->selected = fleet->requests[FLEET_FUNCTIONS].functions.selected;
	functions->filter = fleet->requests[FLEET_FUNCTIONS].request.excerpt.filter;
	functions->by = fleet->requests[FLEET_FUNCTIONS].request.excerpt.by;
	functions->table = sum_tables(fleet, now - fleet->origin);
	sum_visible(fleet, functions);
	sum_selected(fleet, functions);
	return functions;
}

/* ---- heat ---- */

/* True: the machine's map is the answer to what it is asked now. */
static bool is_whole(const struct fleet *fleet, size_t index)
{
	union fleet_request asked = fleet_own_request(fleet, index, &heat_map_kind);
	const struct heat_map *map = fleet->machines[index].heat;

	return map && map->whole && memcmp(&map->asked, &asked.heat, sizeof(asked.heat)) == 0;
}

static void add(struct heat *sum, const struct heat_map *map, int64_t ahead, uint64_t each)
{
	int64_t later = ahead / (int64_t)HEAT_NS - (int64_t)sum->first;

	for (size_t i = 0; i < map->heat.count; i++) {
		int64_t at = (int64_t)(map->heat.first + i) + later;

		if (at < 0 || at >= (int64_t)sum->count)
			continue;
		sum->slots[at].whole += map->heat.slots[i].whole * each;
		sum->slots[at].part += map->heat.slots[i].part * each;
	}
}

struct heat_map *fleet_heat(struct fleet *fleet, uint64_t now)
{
	const struct heat_request *asked = &fleet->requests[FLEET_HEAT].heat;
	struct heat_map *sum = util_alloc(sizeof(*sum));
	uint64_t until, last;

	sum->answer = (struct answer) { .kind = &heat_map_kind, .begun = true };
	memcpy(&sum->asked, asked, sizeof(*asked));
	sum->whole = true;
	sum->now = now - fleet->origin;
	until = asked->request.excerpt.until_ns ? asked->request.excerpt.until_ns : sum->now;
	last = until / HEAT_NS;
	sum->heat.first = last - HEAT_SLOTS + 1;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct fleet_machine *machine = &fleet->machines[i];

		sum->whole = sum->whole && (!machine->vitals || is_whole(fleet, i));
		if (!machine->heat || machine->heat->asked.of != asked->of)
			continue;
		sum->heat.count = HEAT_SLOTS;
		if (machine->heat->name[0])
			memcpy(sum->name, machine->heat->name, sizeof(sum->name));
		add(&sum->heat, machine->heat, fleet_ahead(fleet, machine), fleet_period(machine, 0, 0));
	}
	return sum;
}

/* ---- a function's page ---- */

/* A function's page over all machines: each of its parts is summed as the answer of that kind is. */

static bool has_page(const struct fleet *fleet, size_t index)
{
	const struct function_page *page = fleet->machines[index].page;

	return page && page->tree->of == fleet->requests[FLEET_PAGE].page.tree.of;
}

/* What stands in place of the machines' own answers while a part is summed. */
struct parts {
	struct call_tree *trees[FLEET_MOST];
	struct function_table *tables[FLEET_MOST];
};

static void exchange(struct fleet *fleet, struct parts *parts)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_machine *machine = &fleet->machines[i];
		struct call_tree *tree = machine->tree;
		struct function_table *table = machine->functions;

		machine->tree = parts->trees[i];
		machine->functions = parts->tables[i];
		parts->trees[i] = tree;
		parts->tables[i] = table;
	}
}

static struct call_tree *sum_trees(struct fleet *fleet, uint64_t now)
{
	struct call_tree_request own = fleet->requests[FLEET_TREE].tree;
	struct parts parts = { .trees = { NULL } };
	struct call_tree *sum;

	for (size_t i = 0; i < fleet->count; i++)
		parts.trees[i] = has_page(fleet, i) ? fleet->machines[i].page->tree : NULL;
	fleet->requests[FLEET_TREE].tree = function_page_tree(&fleet->requests[FLEET_PAGE].page);
	exchange(fleet, &parts);
	sum = fleet_tree(fleet, now);
	exchange(fleet, &parts);
	fleet->requests[FLEET_TREE].tree = own;
	return sum;
}

static struct function_table *page_sum_tables(struct fleet *fleet, enum page_table table, uint64_t now)
{
	struct function_request own = fleet->requests[FLEET_FUNCTIONS].functions;
	struct parts parts = { .trees = { NULL } };
	struct function_table *sum;

	for (size_t i = 0; i < fleet->count; i++)
		parts.tables[i] = has_page(fleet, i) ? fleet->machines[i].page->tables[table] : NULL;
	fleet->requests[FLEET_FUNCTIONS].functions = function_page_table(&fleet->requests[FLEET_PAGE].page, table);
	exchange(fleet, &parts);
	sum = fleet_functions(fleet, now);
	exchange(fleet, &parts);
	fleet->requests[FLEET_FUNCTIONS].functions = own;
	return sum;
}

struct function_page *fleet_page(struct fleet *fleet, uint64_t now)
{
	struct function_page *page = util_alloc(sizeof(*page));

	page->tree = sum_trees(fleet, now);
	page->answer = page->tree->answer;
	page->answer.kind = &function_page_kind;
	for (int i = 0; i < PAGE_TABLES; i++)
		page->tables[i] = page_sum_tables(fleet, (enum page_table)i, now);
	return page;
}

/* ---- the time line ---- */

static const struct time_line *line_of(const struct fleet *fleet, size_t machine)
{
	const struct time_line *line = fleet->machines[machine].line;

	return line && line->series.count && line->of == fleet->requests[FLEET_LINE].line.of ? line : NULL;
}

/* Slots of the sum are as wide as the widest: those of one width nest in those of the next. */
static void line_lay_out(const struct fleet *fleet, struct series *sum, uint64_t now)
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
static void line_add(struct series *sum, const struct series *part, uint64_t each)
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
	sum->of = fleet->requests[FLEET_LINE].line.of;
	sum->now = now - fleet->origin;
	line_lay_out(fleet, &sum->series, sum->now);
	for (size_t i = 0; i < fleet->count; i++)
		if (line_of(fleet, i))
			line_add(&sum->series, &line_of(fleet, i)->series, fleet_period(&fleet->machines[i], 0, 0));
	return sum;
}

/* ---- annotation ---- */

/* The CPU time that a machine spends in the function itself. */
static uint64_t time_of(const struct fleet *fleet, size_t index)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct annotation *part = machine->annotation;

	if (!part || part->of != fleet->requests[FLEET_ANNOTATION].annotation.function)
		return 0;
	return part->self.weight * fleet_period(machine, part->weight, part->time);
}

/* Another machine has to have clearly more, so that the code stands still while numbers move. */
static size_t choose(const struct fleet *fleet)
{
	size_t best = fleet->annotated;

	for (size_t i = 0; i < fleet->count; i++)
		if (time_of(fleet, i) / 5 * 4 > time_of(fleet, best))
			best = i;
	return best;
}

static struct annotation_heat *copy_heat(const struct annotation_heat *heat, size_t count)
{
	struct annotation_heat *copy = util_alloc(count * sizeof(*copy));

	if (count)
		memcpy(copy, heat, count * sizeof(*copy));
	return copy;
}

/* The function is called as it is in the other views: of a fleet's functions. */
static void copy_part(struct fleet *fleet, size_t index, struct annotation *answer)
{
	struct fleet_machine *machine = &fleet->machines[index];
	const struct annotation *part = machine->annotation;
	const struct fleet_origin origin = {
		.symbols = part->answer.symbols, .kernel = part->kernel, .machine = fleet->names[index],
	};
	size_t count = part->listing ? part->listing->count : 0;

	*answer = *part;
	answer->answer = (struct answer) {
		.kind = &annotation_kind, .begun = true, .symbols = fleet_ids_symbols(fleet->functions),
		.epoch = epoch_hold(part->answer.epoch), .partial = part->answer.partial,
	};
	if (part->answer.symbols && part->function != FUNCTION_NONE)
		answer->function = fleet_ids_map(fleet->functions, &machine->map, &origin, part->function);
	answer->listing = listing_hold(part->listing);
	answer->heat = copy_heat(part->heat, count);
	answer->base.heat = part->base.there ? copy_heat(part->base.heat, count) : NULL;
}

struct annotation *fleet_annotation(struct fleet *fleet, uint64_t now)
{
	const struct annotation *part;
	struct annotation *answer = util_alloc(sizeof(*answer));
	uint64_t span = 0;

	fleet->annotated = choose(fleet);
	part = fleet->machines[fleet->annotated].annotation;
	*answer = (struct annotation) {
		.answer = { .kind = &annotation_kind, .begun = true }, .function = FUNCTION_NONE, .lacks = "",
	};
	if (part && part->of == fleet->requests[FLEET_ANNOTATION].annotation.function)
		copy_part(fleet, fleet->annotated, answer);
	if (answer->to > answer->from)
		span = answer->to - answer->from;
	util_print(answer->machine, sizeof(answer->machine), "%s", fleet->names[fleet->annotated]);
	answer->of = fleet->requests[FLEET_ANNOTATION].annotation.function;
	answer->filter = fleet->requests[FLEET_ANNOTATION].request.excerpt.filter;
	answer->to = now - fleet->origin;
	answer->from = answer->to - span;
	return answer;
}

/* ---- fleet tree ---- */

#define NO_ROW 0xffffffffu

/* ---- the sum: rows with the same path are one ---- */

struct sum {				/* of one order */
	struct tree *tree;		/* gets the rows at last */
	enum tree_order order;
	struct tree_row *rows;		/* parents before children, in no other order */
	uint32_t *children, *last, *next;	/* by row, NO_ROW: none; the lists are in order of weight */
	uint32_t count, room;
	struct hash by_path;
};

static uint32_t find_row(struct sum *sum, uint64_t path)
{
	uint64_t hash = hash_pair(&sum->by_path, path, 0);
	uint32_t at = 0, row;

	while ((row = hash_next(&sum->by_path, hash, &at)) != HASH_NONE)
		if (sum->rows[row].path == path)
			return row;
	if (sum->count == sum->room) {
		sum->room = 2 * sum->room + 256;
		sum->rows = util_grow(sum->rows, sum->room, sizeof(*sum->rows));
	}
	sum->rows[sum->count] = (struct tree_row) { .path = path, .function = NO_ROW, .parent = TREE_TOP };
	hash_add(&sum->by_path, hash, sum->count);
	return sum->count++;
}

static void add_trend(struct tree *tree, struct tree_row *to, const uint64_t *trend, uint64_t each)
{
	uint64_t *sums;

	if (!trend || (!to->trend && tree->trend_count == TREE_ORDERS * TREE_TRENDS))
		return;
	sums = to->trend ? tree->trends + (to->trend - tree->trends) :
		tree_add_trend(tree, to, TREE_ORDERS * TREE_TRENDS);
	for (int i = 0; sums && i < TREE_SECONDS; i++)
		sums[i] += trend[i] * each;
}

static void fleet_tree_add_rows(struct fleet *fleet, size_t index, struct sum *sum)
{
	struct fleet_machine *machine = &fleet->machines[index];
	const struct call_tree *part = machine->tree;
	const struct tree_list *list = &part->tree->lists[sum->order];
	const struct fleet_origin origin = {
		.symbols = part->answer.symbols, .kernel = part->kernel, .machine = fleet->names[index],
	};
	uint64_t each = fleet_period(machine, part->tree->weight, part->tree->time);
	uint64_t base_each = fleet_period(machine, part->tree->base.weight, part->tree->base.time);

	for (size_t i = 0; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];
		uint32_t at = find_row(sum, row->path);
		struct tree_row *to = &sum->rows[at];

		if (to->function == NO_ROW) {
			to->function = fleet_ids_map(fleet->functions, &machine->map, &origin, row->function);
			to->depth = row->depth;
			to->based = true;
			if (row->parent != TREE_TOP)
				to->parent = find_row(sum, list->rows[row->parent].path);
		}
		to->total += row->total * each;
		to->self += row->self * each;
		to->samples += row->samples;
		to->has_more = to->has_more || row->has_more;
		to->unfolded = to->unfolded || row->unfolded;
		to->line = to->line ? to->line : row->line;
		to->based = to->based && row->based;
		to->base_total += row->base_total * base_each;
		to->base_self += row->base_self * base_each;
		to->base_samples += row->base_samples;
		add_trend(sum->tree, to, row->trend, each);
	}
	if (list->left_out > sum->tree->lists[sum->order].left_out)
		sum->tree->lists[sum->order].left_out = list->left_out;
}

/* Heaviest first, parents before children; equal ones by their paths. */
static int by_weight(const void *left, const void *right, void *context)
{
	const struct tree_row *rows = context;
	const struct tree_row *a = &rows[*(const uint32_t *)left], *b = &rows[*(const uint32_t *)right];

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->depth != b->depth)
		return a->depth > b->depth ? 1 : -1;
	return (a->path > b->path) - (a->path < b->path);
}

/* Lists the children of each row, those of the top at index `count`. Rows beyond TREE_ROWS are left out. */
static void list_children(struct sum *sum)
{
	uint32_t *sorted = util_grow(NULL, sum->count, sizeof(*sorted));

	for (uint32_t i = 0; i <= sum->count; i++)
		sum->children[i] = sum->last[i] = sum->next[i] = NO_ROW;
	for (uint32_t i = 0; i < sum->count; i++)
		sorted[i] = i;
	qsort_r(sorted, sum->count, sizeof(*sorted), by_weight, sum->rows);
	for (uint32_t i = 0; i < sum->count && i < TREE_ROWS; i++) {
		uint32_t at = sorted[i], parent = sum->rows[at].parent == TREE_TOP ? sum->count : sum->rows[at].parent;

		if (sum->last[parent] == NO_ROW)
			sum->children[parent] = at;
		else
			sum->next[sum->last[parent]] = at;
		sum->last[parent] = at;
	}
	if (sum->count > TREE_ROWS)
		sum->tree->lists[sum->order].left_out += sum->count - TREE_ROWS;
	free(sorted);
}

/* `last` is reused: where the row is in the tree's list. */
static void put_rows(struct sum *sum)
{
	uint32_t at = sum->children[sum->count];

	while (at != NO_ROW) {
		struct tree_row *row = tree_add(sum->tree, sum->order);

		*row = sum->rows[at];
		row->parent = row->parent == TREE_TOP ? TREE_TOP : sum->last[row->parent];
		sum->last[at] = (uint32_t)(sum->tree->lists[sum->order].count - 1);
		if (sum->children[at] != NO_ROW) {
			at = sum->children[at];
			continue;
		}
		while (sum->next[at] == NO_ROW && sum->rows[at].parent != TREE_TOP)
			at = sum->rows[at].parent;
		at = sum->next[at];
	}
}

static bool has_tree(const struct fleet *fleet, size_t index)
{
	const struct call_tree *part = fleet->machines[index].tree;

	return part && part->tree && part->of == fleet->requests[FLEET_TREE].tree.tree.of &&
		part->recursion == (fleet->requests[FLEET_TREE].tree.tree.recursion != 0);
}

static void sum_lists(struct fleet *fleet, struct tree *tree, enum tree_order order)
{
	struct sum sum = { .tree = tree, .order = order };

	hash_init(&sum.by_path, NULL);
	for (size_t i = 0; i < fleet->count; i++)
		if (has_tree(fleet, i))
			fleet_tree_add_rows(fleet, i, &sum);
	if (sum.count) {
		sum.children = util_grow(NULL, sum.count + 1, sizeof(*sum.children));
		sum.last = util_grow(NULL, sum.count + 1, sizeof(*sum.last));
		sum.next = util_grow(NULL, sum.count + 1, sizeof(*sum.next));
		list_children(&sum);
		put_rows(&sum);
	}
	hash_clear(&sum.by_path);
	free(sum.rows);
	free(sum.children);
	free(sum.last);
	free(sum.next);
}

static void sum_wholes(const struct fleet *fleet, struct tree *sum)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const struct fleet_machine *machine = &fleet->machines[i];
		const struct tree *part = has_tree(fleet, i) ? machine->tree->tree : NULL;
		uint64_t each = part ? fleet_period(machine, part->weight, part->time) : 0;

		if (!part)
			continue;
		sum->weight += part->weight * each;
		sum->samples += part->samples;
		for (int mode = 0; mode < MODES; mode++)
			sum->mode[mode] += part->mode[mode] * each;
		if (part->to - part->from > sum->to - sum->from)
			sum->from = sum->to - (part->to - part->from);
		sum->base.there = sum->base.there || part->base.there;
		sum->base.weight += part->base.weight * fleet_period(machine, part->base.weight, part->base.time);
		sum->base.samples += part->base.samples;
		sum->scarce = sum->scarce || part->scarce;
	}
	sum->time = sum->weight;
	sum->base.time = sum->base.weight;
}

static bool is_heavy(const struct fleet *fleet, const struct tree *tree, const struct tree_row *row)
{
	uint32_t least = fleet->requests[FLEET_TREE].tree.tree.least;

	return least && row->has_more && (unsigned __int128)row->total * least >= tree->weight;
}

/* Notes the rows that are unfolded for their weight. */
static void keep_heavy(struct fleet *fleet, const struct tree *tree)
{
	fleet->heavy_count = 0;
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count && fleet->heavy_count < TREE_UNFOLDED; i++)
			if (is_heavy(fleet, tree, &tree->lists[order].rows[i]))
				fleet->heavy[fleet->heavy_count++] = tree->lists[order].rows[i].path;
}

/* Source lines are texts of the machines' epochs. */
static void hold_texts(const struct fleet *fleet, struct call_tree *answer)
{
	answer->machines = util_alloc(fleet->count * sizeof(struct epoch *));
	answer->machine_count = fleet->count;
	for (size_t i = 0; i < fleet->count; i++)
		answer->machines[i] = has_tree(fleet, i) ? epoch_hold(fleet->machines[i].tree->answer.epoch) : NULL;
}

/* What the request has unfolded at once; but while a machine's part is still to an earlier request, what that has. */
static void tell_wish(const struct fleet *fleet, struct call_tree *answer)
{
	const struct tree_question *asked = &fleet->requests[FLEET_TREE].tree.tree;

	answer->hot = asked->hot;
	answer->below = asked->below;
	answer->find = asked->find;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct call_tree *part = has_tree(fleet, i) ? fleet->machines[i].tree : answer;

		answer->hot = part->hot != asked->hot ? part->hot : answer->hot;
		answer->below = part->below != asked->below ? part->below : answer->below;
		answer->find = part->find != asked->find ? part->find : answer->find;
	}
}

struct call_tree *fleet_tree(struct fleet *fleet, uint64_t now)
{
	struct call_tree *answer = util_alloc(sizeof(*answer));

	answer->answer = (struct answer) {
		.kind = &call_tree_kind, .begun = true, .symbols = fleet_ids_symbols(fleet->functions),
	};
	answer->filter = fleet->requests[FLEET_TREE].request.excerpt.filter;
	answer->of = fleet->requests[FLEET_TREE].tree.tree.of;
	answer->recursion = fleet->requests[FLEET_TREE].tree.tree.recursion;
	tell_wish(fleet, answer);
	answer->tree = tree_new(fleet->budget);
	answer->tree->from = answer->tree->to = now - fleet->origin;
	for (int order = 0; order < TREE_ORDERS; order++)
		if (fleet->requests[FLEET_TREE].tree.tree.orders >> order & 1)
			sum_lists(fleet, answer->tree, (enum tree_order)order);
	hold_texts(fleet, answer);
	sum_wholes(fleet, answer->tree);
	keep_heavy(fleet, answer->tree);
	return answer;
}
