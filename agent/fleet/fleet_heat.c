/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

enum { DRIFT_MS = 250 };		/* clocks that have drifted apart by more are put side by side anew */

struct heat_request fleet_heat_request(const struct fleet *fleet, size_t index)
{
	struct heat_request asked = fleet->heat_request;

	asked.request.excerpt.until_ns = asked.request.excerpt.until_ns ?
		fleet_excerpt(fleet, index).until_ns : 0;
	return asked;
}

/*
 * How far the fleet's clock is ahead of the machine's. It stays the same from answer to answer, so that the slots of
 * the past stay where they are, too.
 */
static void follow_clock(const struct fleet *fleet, struct fleet_machine *machine, const struct heat_map *map)
{
	int64_t ahead = (int64_t)(util_now() - fleet->origin) - (int64_t)map->now, drift = ahead - machine->ahead;

	if (map->now && llabs(drift) > (int64_t)DRIFT_MS * (int64_t)NS_PER_MS)
		machine->ahead = ahead;
}

void fleet_take_heat(const struct fleet *fleet, struct fleet_machine *machine, struct heat_map *map)
{
	heat_map_free(machine->heat);
	machine->heat = map;
	follow_clock(fleet, machine, map);
}

/* True: the machine's map is the answer to what it is asked now. */
static bool is_whole(const struct fleet *fleet, size_t index)
{
	struct heat_request asked = fleet_heat_request(fleet, index);
	const struct heat_map *map = fleet->machines[index].heat;

	return map && map->whole && memcmp(&map->asked, &asked, sizeof(asked)) == 0;
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
	const struct heat_request *asked = &fleet->heat_request;
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
		add(&sum->heat, machine->heat, machine->ahead, fleet_period(machine, 0, 0));
	}
	return sum;
}
