/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "agent/store/stacks.h"
#include "holders.h"

void holders_clear(struct holders *holders, struct budget *budget)
{
	budget_free(budget, holders->nodes, holders->room);
	*holders = (struct holders) { .nodes = NULL };
}

static bool grow(struct holders *holders, const struct holders_input *input)
{
	uint32_t room = input->count + input->count / 2 + 1024;
	uint8_t *nodes;

	if (input->count <= holders->room)
		return true;
	nodes = budget_resize(input->budget, holders->nodes, holders->room, room);
	if (!nodes)
		return false;
	holders->nodes = nodes;
	holders->room = room;
	return true;
}

void holders_update(struct holders *holders, const struct holders_input *input, uint64_t of)
{
	size_t count = symbols_functions(input->symbols);
	uint8_t *known;			/* by function: 1: it is not the wanted one; 2: it is */

	if (holders->count >= input->count)
		return;
	holders->scarce = !grow(holders, input);
	if (holders->scarce)
		return;
	known = util_alloc(count + 1);
	for (uint32_t i = holders->count; i < input->count; i++) {
		struct node node = stacks_node(input->stacks, i);
		uint32_t function = input->functions[i];

		if (function < count && !known[function]) {
			const struct function *names = symbols_get(input->symbols, function);

			known[function] = names->known && tree_name(names, input->kernel) == of ? 2 : 1;
		}
		if (function < count && known[function] == 2) {
			holders->found = true;
			holders->function = function;
		}
		holders->nodes[i] = (function < count && known[function] == 2) ||
			(node.parent != STACKS_NONE && holders->nodes[node.parent]);
	}
	holders->count = input->count;
	free(known);
}
