/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/session/picture.h"
#include "agent/wire/event.h"
#include "fleet.h"
#include "fleet_names.h"
#include "fleet_state.h"

/* Local, ns; never 0. */
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
	fleet->wish.filter.cpu = EVENT_NONE;
	fleet->wish.selected = FUNCTION_NONE;
	fleet->midnight = util_now() - time_of_day();
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		picture_free(fleet->machines[i].part);
		fleet_map_clear(&fleet->machines[i].map, fleet->budget);
	}
	budget_give(fleet->budget, fleet->place_count * sizeof(*fleet->places));
	fleet_names_free(fleet->functions);
	budget_release(fleet->budget);
	free(fleet->places);
	free(fleet->machines);
	free(fleet);
}

/* Both are held while this is called, so that two boots are never at one address. */
static bool is_another_boot(const struct picture *before, const struct picture *after)
{
	return !before || before->symbols != after->symbols;
}

/* A boot that begins after the zero counts from its beginning; of a frozen window it is no part. */
static void begin_anew(struct fleet_machine *machine)
{
	machine->zero = 0;
	machine->until = machine->until ? 1 : 0;
}

void fleet_take(struct fleet *fleet, size_t index, struct picture *picture)
{
	struct fleet_machine *machine = &fleet->machines[index];

	if (is_another_boot(machine->part, picture))
		fleet_map_clear(&machine->map, fleet->budget);
	if (is_another_boot(machine->part, picture) || picture->now < machine->zero ||
			picture->now < machine->until)
		begin_anew(machine);
	picture_free(machine->part);
	machine->part = picture;
}

/* Where a machine's clock stood in what is shown of it. */
static uint64_t end_of(const struct picture *part)
{
	return !part ? 1 : part->table ? part->table->to : part->now;
}

void fleet_wish(struct fleet *fleet, const struct session_wish *wish)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_machine *machine = &fleet->machines[i];

		if (wish->zero_ns != fleet->wish.zero_ns)
			machine->zero = wish->zero_ns && machine->part ? machine->part->now : 0;
		if (wish->until_ns != fleet->wish.until_ns)
			machine->until = wish->until_ns ? end_of(machine->part) : 0;
	}
	fleet->wish = *wish;
}

static bool is_wanted(const struct session_wish *wish, uint32_t function)
{
	for (size_t i = 0; i < wish->visible_count; i++)
		if (wish->visible[i] == function)
			return true;
	return false;
}

static int by_id(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * The machine's functions that are one of the wanted, as far as there is room in a wish; in an
 * order that does not change with the table's, so that it is the same wish.
 */
static void ask_visible(const struct session_wish *wish, const struct fleet_machine *machine,
	struct session_wish *asked)
{
	const struct table *table = machine->part ? machine->part->table : NULL;
	size_t most = sizeof(asked->visible) / sizeof(asked->visible[0]);

	for (size_t i = 0; table && i < table->count && asked->visible_count < most; i++)
		if (is_wanted(wish, fleet_map_get(&machine->map, table->rows[i].function)))
			asked->visible[asked->visible_count++] = table->rows[i].function;
	qsort(asked->visible, asked->visible_count, sizeof(asked->visible[0]), by_id);
}

struct session_wish fleet_ask(const struct fleet *fleet, size_t index)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	struct session_wish asked;

	memset(&asked, 0, sizeof(asked));
	asked.window_ns = fleet->wish.window_ns;
	asked.zero_ns = machine->zero;
	asked.until_ns = machine->until;
	asked.filter = fleet->wish.filter;
	asked.selected = FUNCTION_NONE;
	ask_visible(&fleet->wish, machine, &asked);
	return asked;
}
