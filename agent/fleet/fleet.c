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

enum { IN_NO_WINDOW = 1 };		/* the end of a window that a machine is no part of: before any sample */

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
	fleet->vitals_request.request.kind = &vitals_kind;
	fleet->function_request.request.kind = &function_table_kind;
	fleet->function_request.selected = FUNCTION_NONE;
	fleet->tree_request.request.kind = &call_tree_kind;
	fleet->line_request.request.kind = &time_line_kind;
	fleet->heat_request.request.kind = &heat_map_kind;
	fleet->annotation_request.request.kind = &annotation_kind;
	fleet->page_request.request.kind = &function_page_kind;
	fleet->origin = util_now() - time_of_day() - FLEET_HOURS * (3600 * NS_PER_SECOND);
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		answer_free((struct answer *)fleet->machines[i].vitals);
		answer_free((struct answer *)fleet->machines[i].functions);
		answer_free((struct answer *)fleet->machines[i].tree);
		answer_free((struct answer *)fleet->machines[i].line);
		answer_free((struct answer *)fleet->machines[i].heat);
		answer_free((struct answer *)fleet->machines[i].annotation);
		answer_free((struct answer *)fleet->machines[i].page);
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

static void take_vitals(struct fleet_machine *machine, struct vitals *vitals)
{
	if (vitals->now < machine->zero || vitals->now < machine->until || vitals->now < machine->base.until_ns)
		begin_anew(machine);
	answer_free((struct answer *)machine->vitals);
	machine->vitals = vitals;
}

static void take_functions(struct fleet *fleet, struct fleet_machine *machine, struct function_table *functions)
{
	struct function_table *before = machine->functions;

	if (!before || before->answer.symbols != functions->answer.symbols)
		fleet_map_clear(&machine->map, fleet->budget);
	answer_free((struct answer *)before);
	machine->functions = functions;
}

/* As with functions: a map is cleared while the boot that it is of is still held. */
static void take_tree(struct fleet *fleet, struct fleet_machine *machine, struct call_tree *tree)
{
	struct call_tree *before = machine->tree;

	if (!before || before->answer.symbols != tree->answer.symbols)
		fleet_map_clear(&machine->map, fleet->budget);
	answer_free((struct answer *)before);
	machine->tree = tree;
}

/* Likewise. */
static void take_annotation(struct fleet *fleet, struct fleet_machine *machine, struct annotation *annotation)
{
	struct annotation *before = machine->annotation;

	if (!before || before->answer.symbols != annotation->answer.symbols)
		fleet_map_clear(&machine->map, fleet->budget);
	answer_free((struct answer *)before);
	machine->annotation = annotation;
}

static void take_page(struct fleet *fleet, struct fleet_machine *machine, struct function_page *page)
{
	struct function_page *before = machine->page;

	if (!before || before->answer.symbols != page->answer.symbols)
		fleet_map_clear(&machine->map, fleet->budget);
	answer_free((struct answer *)before);
	machine->page = page;
}

static void take_line(struct fleet_machine *machine, struct time_line *line)
{
	answer_free((struct answer *)machine->line);
	machine->line = line;
}

void fleet_take(struct fleet *fleet, size_t index, struct answer *answer)
{
	struct fleet_machine *machine = &fleet->machines[index];

	follow_boot(machine, answer);
	if (answer->kind == &vitals_kind)
		take_vitals(machine, (struct vitals *)answer);
	else if (answer->kind == &call_tree_kind)
		take_tree(fleet, machine, (struct call_tree *)answer);
	else if (answer->kind == &time_line_kind)
		take_line(machine, (struct time_line *)answer);
	else if (answer->kind == &heat_map_kind)
		fleet_take_heat(fleet, machine, (struct heat_map *)answer);
	else if (answer->kind == &annotation_kind)
		take_annotation(fleet, machine, (struct annotation *)answer);
	else if (answer->kind == &function_page_kind)
		take_page(fleet, machine, (struct function_page *)answer);
	else
		take_functions(fleet, machine, (struct function_table *)answer);
}

/* The machine's clock at the end of what is shown of it; never 0, which would mean no end. */
static uint64_t end_of(const struct fleet_machine *machine)
{
	uint64_t end = 0;

	if (machine->functions && machine->functions->table)
		end = machine->functions->table->to;
	if (machine->tree && machine->tree->tree && machine->tree->tree->to > end)
		end = machine->tree->tree->to;
	if (machine->annotation && machine->annotation->to > end)
		end = machine->annotation->to;
	if (machine->page && machine->page->tree->tree && machine->page->tree->tree->to > end)
		end = machine->page->tree->tree->to;
	if (machine->heat && machine->heat->now > end)
		end = machine->heat->now;
	if (end)
		return end;
	return machine->vitals && machine->vitals->now ? machine->vitals->now : IN_NO_WINDOW;
}

/* A baseline that was marked in a frozen or moved window is that; else it ends where the machine's clock stands now. */
static struct baseline mark(const struct fleet_machine *machine, const struct excerpt *excerpt)
{
	const struct baseline *base = &excerpt->base;
	struct baseline own = *base;

	if (!base->until_ns)
		return (struct baseline) { .until_ns = 0 };
	own.until_ns = base->until_ns == excerpt->until_ns ? machine->until : end_of(machine);
	own.zero_ns = base->zero_ns == excerpt->zero_ns ? machine->zero : 0;
	own.back_ns = own.until_ns == IN_NO_WINDOW ? 0 : base->back_ns;
	return own;
}

void fleet_look(struct fleet *fleet, const struct excerpt *excerpt)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_machine *machine = &fleet->machines[i];

		if (excerpt->zero_ns != fleet->excerpt.zero_ns)
			machine->zero = excerpt->zero_ns && machine->vitals ? machine->vitals->now : 0;
		if (excerpt->until_ns != fleet->excerpt.until_ns)
			machine->until = excerpt->until_ns ? end_of(machine) : 0;
		if (excerpt->base.until_ns != fleet->excerpt.base.until_ns)
			machine->base = mark(machine, excerpt);
	}
	fleet->excerpt = *excerpt;
}

static void ask_tree(struct fleet *fleet, const struct call_tree_request *request)
{
	const struct tree_question *before = &fleet->tree_request.tree, *tree = &request->tree;

	if (before->least != tree->least || before->orders != tree->orders || before->of != tree->of)
		fleet->heavy_count = 0;
	fleet->tree_request = *request;
}

void fleet_request(struct fleet *fleet, const struct request *request)
{
	if (request->kind == &time_line_kind) {		/* it has no window */
		fleet->line_request = *(const struct time_line_request *)request;
		return;
	}
	if (request->kind == &heat_map_kind) {		/* likewise; vitals tell of the window */
		fleet->heat_request = *(const struct heat_request *)request;
		return;
	}
	fleet_look(fleet, &request->excerpt);
	if (request->kind == &vitals_kind)
		fleet->vitals_request = *(const struct vitals_request *)request;
	else if (request->kind == &call_tree_kind)
		ask_tree(fleet, (const struct call_tree_request *)request);
	else if (request->kind == &annotation_kind)
		fleet->annotation_request = *(const struct annotation_request *)request;
	else if (request->kind == &function_page_kind)
		fleet->page_request = *(const struct function_page_request *)request;
	else
		fleet->function_request = *(const struct function_request *)request;
}

bool fleet_is_asked(const struct fleet *fleet, const struct request *request)
{
	const void *last = &fleet->function_request;

	if (request->kind == &vitals_kind)
		last = &fleet->vitals_request;
	if (request->kind == &call_tree_kind)
		last = &fleet->tree_request;
	if (request->kind == &time_line_kind)
		last = &fleet->line_request;
	if (request->kind == &heat_map_kind)
		last = &fleet->heat_request;
	if (request->kind == &annotation_kind)
		last = &fleet->annotation_request;
	if (request->kind == &function_page_kind)
		last = &fleet->page_request;
	return memcmp(last, request, request->kind->request_size) == 0;
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
 * Asks for the machine's functions that are among the fleet's visible ones, as far as a request has room. They are
 * sorted by id, so that another order of the table makes no other request.
 */
static void ask_visible(const struct function_request *request, const struct fleet_machine *machine,
	struct function_request *asked)
{
	const struct table *table = machine->functions ? machine->functions->table : NULL;

	for (size_t i = 0; table && i < table->count && asked->visible_count < FUNCTION_ROWS; i++)
		if (is_wanted(request, fleet_map_get(&machine->map, table->rows[i].function)))
			asked->visible[asked->visible_count++] = table->rows[i].function;
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

struct vitals_request fleet_vitals_request(const struct fleet *fleet, size_t index)
{
	struct vitals_request asked = fleet->vitals_request;

	asked.request.excerpt = fleet_excerpt(fleet, index);
	return asked;
}

struct function_request fleet_function_request(const struct fleet *fleet, size_t index)
{
	struct function_request asked;

	memset(&asked, 0, sizeof(asked));
	asked.request = fleet->function_request.request;
	asked.request.excerpt = fleet_excerpt(fleet, index);
	asked.selected = FUNCTION_NONE;
	asked.ran = fleet->function_request.ran;
	ask_visible(&fleet->function_request, &fleet->machines[index], &asked);
	return asked;
}
