/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "agent/query/tree/tree.h"
#include "agent/wire/event.h"
#include "fleet.h"
#include "fleet_state.h"

/* ---- fleet ids ---- */

enum { KERNELS_MOST = 64, NO_KERNEL = 0 };	/* further kernels count as the last; programs have none */
enum { UNKNOWN = 0 };			/* the id of the function that stands for those without room */

struct fleet_ids {
	struct budget *budget;
	struct symbols *symbols;
	struct hash by_text;
	uint8_t *kernels;		/* the kernel of each function but the first: an index of kernel_names */
	uint32_t count, room;
	char kernel_names[KERNELS_MOST][TREE_KERNEL];
	uint8_t kernel_count;
};

uint32_t fleet_map_get(const struct fleet_map *map, uint32_t function)
{
	return function < map->count ? map->functions[function] : FUNCTION_NONE;
}

/* Frees it; the budget is the names'. */
static void fleet_map_clear(struct fleet_map *map, struct budget *budget)
{
	budget_give(budget, map->count * sizeof(*map->functions));
	free(map->functions);
	*map = (struct fleet_map) { 0 };
}

/* Borrows the budget. */
static struct fleet_ids *fleet_ids_new(struct budget *budget)
{
	struct fleet_ids *names = util_alloc(sizeof(*names));

	names->budget = budget;
	names->symbols = symbols_new(budget);
	names->kernel_count = NO_KERNEL + 1;
	names->count = symbols_special(names->symbols, "[unknown]") + 1;
	hash_init(&names->by_text, budget);
	return names;
}

static void fleet_ids_free(struct fleet_ids *names)
{
	if (!names)
		return;
	budget_free(names->budget, names->kernels, names->room * sizeof(*names->kernels));
	hash_clear(&names->by_text);
	symbols_free(names->symbols);
	free(names);
}

const struct symbols *fleet_ids_symbols(const struct fleet_ids *names)
{
	return names->symbols;
}

/* The index of the answer's kernel in kernel_names, where it is added if it is new. */
static uint8_t kernel_of(struct fleet_ids *names, const struct fleet_origin *origin)
{
	char name[TREE_KERNEL];
	uint8_t at = 1;

	tree_kernel_object(origin->kernel, name);
	while (at < names->kernel_count && strcmp(names->kernel_names[at], name) != 0)
		at++;
	if (at == KERNELS_MOST)
		return KERNELS_MOST - 1;
	if (at == names->kernel_count)
		strcpy(names->kernel_names[names->kernel_count++], name);
	return at;
}

static uint64_t text_hash(const struct fleet_ids *names, uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_pair(&names->by_text, hash, hash + (unsigned char)*text);
	return hash;
}

static bool is_same(const struct fleet_ids *names, uint32_t id, const struct function *wanted,
	uint8_t kernel)
{
	const struct function *function = symbols_get(names->symbols, id);

	return names->kernels[id] == kernel && function->kernel == wanted->kernel &&
		function->known == wanted->known &&
		function->inlined == wanted->inlined && strcmp(function->name, wanted->name) == 0 &&
		strcmp(function->object, wanted->object) == 0;
}

static bool has_name(const struct fleet_ids *names, uint32_t id, const char *name)
{
	return strcmp(symbols_get(names->symbols, id)->name, name) == 0;
}

/* Without room it returns UNKNOWN, or a function called "[unknown]" of the same object. */
static uint32_t add(struct fleet_ids *names, uint64_t hash, const struct function *function,
	uint8_t kernel)
{
	uint8_t *kernels = budget_array(names->budget, names->kernels, names->count, &names->room,
		sizeof(*kernels));
	uint32_t id;

	if (!kernels)
		return UNKNOWN;
	names->kernels = kernels;
	id = symbols_add(names->symbols, function);
	if (id < names->count)
		return id;
	names->kernels[names->count++] = kernel;
	if (has_name(names, id, function->name))
		hash_add(&names->by_text, hash, id);	/* or it is added anew next time: there may be room then */
	return id;
}

/* The common id of this function of a machine; a new one is added. [idle] and its like are the same on all machines. */
static uint32_t common(struct fleet_ids *names, const struct function *function, const struct fleet_origin *origin)
{
	uint8_t kernel = function->kernel ? kernel_of(names, origin) : NO_KERNEL;
	struct function wanted = *function;
	uint32_t at = 0, id;
	uint64_t hash;

	if (kernel && strcmp(function->object, "kernel") == 0)
		wanted.object = names->kernel_names[kernel];
	if (grouping_is_of_machine(origin->by) && function->known)
		wanted.object = origin->machine;
	hash = text_hash(names, text_hash(names, kernel, wanted.name), wanted.object);
	while ((id = hash_next(&names->by_text, hash, &at)) != HASH_NONE)
		if (is_same(names, id, &wanted, kernel))
			return id;
	return add(names, hash, &wanted, kernel);
}

uint32_t fleet_ids_map(struct fleet_ids *names, struct fleet_map *map, const struct fleet_origin *origin,
	uint32_t function)
{
	const struct function *met;
	uint32_t id;

	if (map->of != origin->symbols || map->of_machine != grouping_is_of_machine(origin->by))
		fleet_map_clear(map, names->budget);
	map->of = origin->symbols;
	map->of_machine = grouping_is_of_machine(origin->by);
	if (function >= map->count) {
		size_t count = symbols_functions(origin->symbols);

		budget_charge(names->budget, (count - map->count) * sizeof(*map->functions));
		map->functions = util_grow(map->functions, count, sizeof(*map->functions));
		memset(map->functions + map->count, 0xff,
			(count - map->count) * sizeof(*map->functions));
		map->count = count;
	}
	if (map->functions[function] != FUNCTION_NONE)
		return map->functions[function];
	met = symbols_get(origin->symbols, function);
	id = common(names, met, origin);
	if (has_name(names, id, met->name))
		map->functions[function] = id;		/* or it is looked for again: there may be room then */
	return id;
}

/* ---- fleet ---- */

enum { DRIFT_MS = 250 };		/* clocks that have drifted apart by more are put side by side anew */

static const struct answer_kind *const kinds[FLEET_KINDS] = {
	[FLEET_VITALS] = &vitals_kind, [FLEET_FUNCTIONS] = &function_table_kind, [FLEET_TREE] = &call_tree_kind,
	[FLEET_ANNOTATION] = &annotation_kind, [FLEET_PAGE] = &function_page_kind, [FLEET_LINE] = &time_line_kind,
	[FLEET_HEAT] = &heat_map_kind, [FLEET_EVENTS] = &event_table_kind, [FLEET_TIMELINE] = &timeline_kind,
	[FLEET_MEMORY] = &memory_table_kind,
};

static enum fleet_kind kind_of(const struct answer_kind *kind)
{
	int at = 0;

	while (at < FLEET_KINDS && kinds[at] != kind)
		at++;
	if (at == FLEET_KINDS)			/* a view asks all machines what the fleet has no answer to */
		abort();
	return (enum fleet_kind)at;
}

/* The local time of the day in ns. */
static uint64_t time_of_day(void)
{
	time_t now = time(NULL);
	struct tm local;

	if (!localtime_r(&now, &local))
		return 0;
	return (uint64_t)(local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec) * NS_PER_SECOND;
}

struct fleet *fleet_new(const char *const *names, size_t count, struct budget *budget)
{
	struct fleet *fleet = util_alloc(sizeof(*fleet));

	fleet->names = names;
	fleet->count = count;
	fleet->machines = util_alloc(count * sizeof(*fleet->machines));
	fleet->budget = budget_hold(budget);
	fleet->functions = fleet_ids_new(budget);
	for (int i = 0; i < FLEET_KINDS; i++)
		fleet->requests[i].request.kind = kinds[i];
	fleet->requests[FLEET_FUNCTIONS].functions.selected = FUNCTION_NONE;
	fleet->origin = util_now() - time_of_day() - FLEET_HOURS * (3600 * NS_PER_SECOND);
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		for (int kind = 0; kind < FLEET_KINDS; kind++)
			answer_free(fleet->machines[i].answers[kind]);
		fleet_map_clear(&fleet->machines[i].map, fleet->budget);
	}
	budget_give(fleet->budget, fleet->place_count * sizeof(*fleet->places));
	fleet_ids_free(fleet->functions);
	budget_release(fleet->budget);
	free(fleet->places);
	free(fleet->machines);
	free(fleet);
}

/* A boot that begins after the zero counts from its beginning. It is no part of a frozen window, nor of a baseline. */
static void begin_anew(struct fleet_machine *machine)
{
	machine->zero = 0;
	machine->until = machine->until ? IN_NO_WINDOW : 0;
	machine->base.until_ns = machine->base.until_ns ? IN_NO_WINDOW : 0;
}

/* Called while the last answer is still held, so that two boots never have the same address. */
static void follow_boot(struct fleet_machine *machine, const struct answer *answer)
{
	if (machine->boot != answer->symbols)
		begin_anew(machine);
	machine->boot = answer->symbols;
}

/* It stays the same from answer to answer, so that what is past stays where it is, too. */
static void follow_clock(const struct fleet *fleet, struct fleet_machine *machine, uint64_t now)
{
	uint64_t own = machine->vitals->now;
	int64_t ahead = (int64_t)(now - fleet->origin) - (int64_t)own, drift = ahead - machine->ahead;

	if (own && llabs(drift) > (int64_t)DRIFT_MS * (int64_t)NS_PER_MS)
		machine->ahead = ahead;
}

/* A map is cleared while the boot that it is of is still held. */
void fleet_take(struct fleet *fleet, size_t index, struct answer *answer, uint64_t now)
{
	struct fleet_machine *machine = &fleet->machines[index];
	enum fleet_kind kind = kind_of(answer->kind);
	struct answer *before = machine->answers[kind];
	bool names = kind != FLEET_VITALS && kind != FLEET_LINE && kind != FLEET_HEAT &&
		kind != FLEET_EVENTS && kind != FLEET_TIMELINE && kind != FLEET_MEMORY;

	follow_boot(machine, answer);
	if (kind == FLEET_VITALS && before && ((struct vitals *)answer)->now < ((struct vitals *)before)->now)
		begin_anew(machine);
	if (names && (!before || before->symbols != answer->symbols))
		fleet_map_clear(&machine->map, fleet->budget);
	answer_free(before);
	machine->answers[kind] = answer;
	if (kind == FLEET_VITALS)
		follow_clock(fleet, machine, now);
}

bool fleet_kernels_differ(const struct fleet *fleet)
{
	const char *first = NULL;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct vitals *vitals = fleet->machines[i].vitals;

		if (!vitals || !vitals->kernel[0])
			continue;
		if (first && strcmp(first, vitals->kernel) != 0)
			return true;
		first = vitals->kernel;
	}
	return false;
}

int64_t fleet_ahead(const struct fleet *fleet, const struct fleet_machine *machine)
{
	if (fleet->excerpt.until_ns && machine->until != IN_NO_WINDOW)
		return (int64_t)(fleet->excerpt.until_ns - machine->until);
	return machine->ahead;
}

uint64_t fleet_time(const struct fleet *fleet, const struct fleet_machine *machine, uint64_t own)
{
	return own ? own + (uint64_t)fleet_ahead(fleet, machine) : 0;
}

uint64_t fleet_own_time(const struct fleet *fleet, const struct fleet_machine *machine, uint64_t time)
{
	int64_t own = (int64_t)(time - (uint64_t)fleet_ahead(fleet, machine));

	return machine->vitals && machine->vitals->now && own > 0 ? (uint64_t)own : IN_NO_WINDOW;
}

/* Where the machine's clock stood then. What is held as it is shown has nothing that was not known yet. */
static uint64_t end_of(const struct fleet *fleet, const struct fleet_machine *machine, uint64_t time, bool moved)
{
	uint64_t own = fleet_own_time(fleet, machine, time), known = machine->vitals ? machine->vitals->now : 0;

	return moved || own < known ? own : known ? known : IN_NO_WINDOW;
}

/* A baseline that was marked in a frozen or moved window is that, which ends at `until` there. */
static struct baseline mark(const struct fleet *fleet, const struct fleet_machine *machine,
	const struct excerpt *excerpt, uint64_t until)
{
	const struct baseline *base = &excerpt->base;
	struct baseline own = *base;

	if (!base->until_ns)
		return (struct baseline) { .until_ns = 0 };
	own.until_ns = base->until_ns == excerpt->until_ns ? until :
		end_of(fleet, machine, base->until_ns, false);
	own.zero_ns = base->zero_ns == excerpt->zero_ns ? machine->zero : 0;
	own.back_ns = own.until_ns == IN_NO_WINDOW ? 0 : base->back_ns;
	return own;
}

void fleet_look(struct fleet *fleet, const struct excerpt *excerpt)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_machine *machine = &fleet->machines[i];
		uint64_t until = machine->until;	/* by which the clocks are compared up to here */

		if (excerpt->zero_ns != fleet->excerpt.zero_ns)
			machine->zero = excerpt->zero_ns && machine->vitals ? machine->vitals->now : 0;
		if (excerpt->until_ns != fleet->excerpt.until_ns)
			until = excerpt->until_ns ? end_of(fleet, machine, excerpt->until_ns, excerpt->moved) : 0;
		if (excerpt->base.until_ns != fleet->excerpt.base.until_ns)
			machine->base = mark(fleet, machine, excerpt, until);
		machine->until = until;
	}
	fleet->excerpt = *excerpt;
}

/* A time line and a heat map have no window; vitals tell of it. */
void fleet_request(struct fleet *fleet, const struct request *request)
{
	enum fleet_kind kind = kind_of(request->kind);
	const struct tree_question *before = &fleet->requests[FLEET_TREE].tree.tree, *tree =
		kind == FLEET_TREE ? &((const struct call_tree_request *)request)->tree : before;

	if (kind != FLEET_LINE && kind != FLEET_HEAT)
		fleet_look(fleet, &request->excerpt);
	if (before->least != tree->least || before->orders != tree->orders || before->of != tree->of)
		fleet->heavy_count = 0;
	memcpy(&fleet->requests[kind], request, request->kind->request_size);
}

bool fleet_is_asked(const struct fleet *fleet, const struct request *request)
{
	return memcmp(&fleet->requests[kind_of(request->kind)], request, request->kind->request_size) == 0;
}

static bool is_wanted(const struct function_request *request, uint32_t function)
{
	for (size_t i = 0; i < request->visible_count; i++)
		if (request->visible[i] == function)
			return true;
	return false;
}

static int by_id(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * In place of the fleet's visible functions asks for the machine's own ones, as far as a request has room. They are
 * sorted by id, so that another order of the table makes no other request. Of the selected one only what a thread does
 * is asked for.
 */
static void ask_visible(const struct function_request *request, const struct fleet_machine *machine,
	struct function_request *asked)
{
	const struct table *table = machine->functions ? machine->functions->table : NULL;

	memset(asked->visible, 0, sizeof(asked->visible));
	asked->visible_count = 0;
	asked->selected = FUNCTION_NONE;
	asked->callers = false;
	for (size_t i = 0; table && i < table->count; i++) {
		uint32_t common = fleet_map_get(&machine->map, table->rows[i].function);

		if (asked->visible_count < FUNCTION_ROWS && is_wanted(request, common))
			asked->visible[asked->visible_count++] = table->rows[i].function;
		if (common == request->selected && common != FUNCTION_NONE &&
				request->request.excerpt.by == GROUP_THREAD)
			asked->selected = table->rows[i].function;
	}
	qsort(asked->visible, asked->visible_count, sizeof(asked->visible[0]), by_id);
}

struct excerpt fleet_excerpt(const struct fleet *fleet, size_t index)
{
	struct excerpt excerpt = fleet->excerpt;

	excerpt.zero_ns = fleet->machines[index].zero;
	excerpt.until_ns = fleet->machines[index].until;
	if (excerpt.until_ns == IN_NO_WINDOW)
		excerpt.back_ns = 0;
	excerpt.base = fleet->machines[index].base;
	return excerpt;
}

/* A row that is heavy in the sum may be light on this machine. It is unfolded here as well. */
static void ask_heavy(const struct fleet *fleet, struct tree_question *tree)
{
	for (uint32_t i = 0; i < fleet->heavy_count && tree->unfolded_count < TREE_UNFOLDED; i++)
		tree->unfolded[tree->unfolded_count++] = fleet->heavy[i];
}

union fleet_request fleet_own_request(const struct fleet *fleet, size_t index, const struct answer_kind *kind)
{
	const struct excerpt own = fleet_excerpt(fleet, index);
	enum fleet_kind of = kind_of(kind);
	union fleet_request asked;

	memset(&asked, 0, sizeof(asked));
	memcpy(&asked, &fleet->requests[of], kind->request_size);
	if (of == FLEET_HEAT && asked.heat.request.excerpt.until_ns)
		asked.heat.request.excerpt.until_ns = own.until_ns;
	if (of != FLEET_LINE && of != FLEET_HEAT)
		asked.request.excerpt = own;
	if (of == FLEET_TREE)
		ask_heavy(fleet, &asked.tree.tree);
	if (of == FLEET_FUNCTIONS)
		ask_visible(&fleet->requests[FLEET_FUNCTIONS].functions, &fleet->machines[index], &asked.functions);
	if (of == FLEET_EVENTS)
		fleet_ask_slow(fleet, index, &asked.events);
	if (of == FLEET_TIMELINE)
		fleet_ask_timeline(fleet, index, &asked.timeline);
	if (of == FLEET_MEMORY)
		fleet_ask_memory(fleet, index, &asked.memory);
	return asked;
}

struct answer *fleet_answer(struct fleet *fleet, const struct answer_kind *kind, uint64_t now)
{
	switch (kind_of(kind)) {
	case FLEET_VITALS:
		return &fleet_vitals(fleet, now)->answer;
	case FLEET_TREE:
		return &fleet_tree(fleet, now)->answer;
	case FLEET_ANNOTATION:
		return &fleet_annotation(fleet, now)->answer;
	case FLEET_PAGE:
		return &fleet_page(fleet, now)->answer;
	case FLEET_LINE:
		return &fleet_time_line(fleet, now)->answer;
	case FLEET_HEAT:
		return &fleet_heat(fleet, now)->answer;
	case FLEET_EVENTS:
		return &fleet_events(fleet, now)->answer;
	case FLEET_TIMELINE:
		return &fleet_timeline(fleet, now)->answer;
	case FLEET_MEMORY:
		return &fleet_memory(fleet, now)->answer;
	default:
		return &fleet_functions(fleet, now)->answer;
	}
}
