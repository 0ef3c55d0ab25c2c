/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/wire/event.h"
#include "fleet.h"
#include "fleet_names.h"
#include "fleet_state.h"

/* The local time of the day in ns; never 0. */
static uint64_t time_of_day(void)
{
	time_t now = time(NULL);
	struct tm local;

	if (!localtime_r(&now, &local))
		return NS_PER_SECOND;
	return (uint64_t)(local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec + 1) * NS_PER_SECOND;
}

struct fleet *fleet_new(const char *const *names, size_t count, struct budget *budget)
{
	struct fleet *fleet = util_alloc(sizeof(*fleet));

	fleet->names = names;
	fleet->count = count;
	fleet->machines = util_alloc(count * sizeof(*fleet->machines));
	fleet->budget = budget_hold(budget);
	fleet->functions = fleet_names_new(budget);
	fleet->vitals_request.request.kind = &vitals_kind;
	fleet->function_request.request.kind = &function_table_kind;
	fleet->function_request.selected = FUNCTION_NONE;
	fleet->midnight = util_now() - time_of_day();
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		vitals_free(fleet->machines[i].vitals);
		function_table_free(fleet->machines[i].functions);
		fleet_map_clear(&fleet->machines[i].map, fleet->budget);
	}
	budget_give(fleet->budget, fleet->place_count * sizeof(*fleet->places));
	fleet_names_free(fleet->functions);
	budget_release(fleet->budget);
	free(fleet->places);
	free(fleet->machines);
	free(fleet);
}

/* A boot that begins after the zero counts from its beginning. It is no part of a frozen window. */
static void begin_anew(struct fleet_machine *machine)
{
	machine->zero = 0;
	machine->until = machine->until ? 1 : 0;
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
	if (vitals->now < machine->zero || vitals->now < machine->until)
		begin_anew(machine);
	vitals_free(machine->vitals);
	machine->vitals = vitals;
}

static void take_functions(struct fleet *fleet, struct fleet_machine *machine, struct function_table *functions)
{
	struct function_table *before = machine->functions;

	if (!before || before->answer.symbols != functions->answer.symbols)
		fleet_map_clear(&machine->map, fleet->budget);
	function_table_free(before);
	machine->functions = functions;
}

void fleet_take(struct fleet *fleet, size_t index, struct answer *answer)
{
	struct fleet_machine *machine = &fleet->machines[index];

	follow_boot(machine, answer);
	if (answer->kind == &vitals_kind)
		take_vitals(machine, (struct vitals *)answer);
	else
		take_functions(fleet, machine, (struct function_table *)answer);
}

/* The machine's clock at the end of what is shown of it. */
static uint64_t end_of(const struct fleet_machine *machine)
{
	if (machine->functions && machine->functions->table)
		return machine->functions->table->to;
	return machine->vitals ? machine->vitals->now : 1;
}

void fleet_look(struct fleet *fleet, const struct excerpt *excerpt)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_machine *machine = &fleet->machines[i];

		if (excerpt->zero_ns != fleet->excerpt.zero_ns)
			machine->zero = excerpt->zero_ns && machine->vitals ? machine->vitals->now : 0;
		if (excerpt->until_ns != fleet->excerpt.until_ns)
			machine->until = excerpt->until_ns ? end_of(machine) : 0;
	}
	fleet->excerpt = *excerpt;
}

void fleet_request(struct fleet *fleet, const struct request *request)
{
	fleet_look(fleet, &request->excerpt);
	if (request->kind == &vitals_kind)
		fleet->vitals_request = *(const struct vitals_request *)request;
	else
		fleet->function_request = *(const struct function_request *)request;
}

bool fleet_is_asked(const struct fleet *fleet, const struct request *request)
{
	const void *last = request->kind == &vitals_kind ? (const void *)&fleet->vitals_request :
		(const void *)&fleet->function_request;

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
	ask_visible(&fleet->function_request, &fleet->machines[index], &asked);
	return asked;
}
