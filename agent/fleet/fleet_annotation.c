/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "fleet.h"
#include "fleet_state.h"

struct annotation_request fleet_annotation_request(const struct fleet *fleet, size_t index)
{
	struct annotation_request asked = fleet->annotation_request;

	asked.request.excerpt = fleet_excerpt(fleet, index);
	return asked;
}

/* The CPU time that a machine spends in the function itself. */
static uint64_t time_of(const struct fleet *fleet, size_t index)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct annotation *part = machine->annotation;

	if (!part || part->of != fleet->annotation_request.function)
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
	if (part && part->of == fleet->annotation_request.function)
		copy_part(fleet, fleet->annotated, answer);
	if (answer->to > answer->from)
		span = answer->to - answer->from;
	util_print(answer->machine, sizeof(answer->machine), "%s", fleet->names[fleet->annotated]);
	answer->of = fleet->annotation_request.function;
	answer->filter = fleet->annotation_request.request.excerpt.filter;
	answer->to = now - fleet->origin;
	answer->from = answer->to - span;
	return answer;
}
