/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/match.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/query/tree/tree.h"
#include "agent/store/stacks.h"
#include "subject.h"

struct holders_input {			/* all borrowed */
	const struct stacks *stacks;
	const struct symbols *symbols;
	const uint32_t *functions;	/* by node, as far as `count` */
	uint32_t count;
	const char *kernel;		/* for tree_name */
	struct budget *budget;
};

/* To be called also when names change. */
static void holders_clear(struct holders *holders, struct budget *budget)
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

/* Looks at the nodes that are new. `of`: the tree_name of the function. */
static void holders_update(struct holders *holders, const struct holders_input *input, uint64_t of)
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

static bool holders_has(const struct holders *holders, uint32_t stack)
{
	return stack != STACKS_NONE && stack < holders->count && holders->nodes[stack];
}

void subject_clear(struct subject *subject)
{
	holders_clear(&subject->holders, subject->budget);
}

bool subject_follow(struct subject *subject, struct query_reader *reader, const struct question *question, uint64_t of,
	const char *kernel)
{
	static const struct filter everything = { .count = 0 };
	struct window *window = &reader->window;
	bool plain = of == 0 && filter_same(&question->filter, &everything), same;

	if (!plain)
		window_look(window, question);
	same = plain == subject->plain && of == subject->of && (plain || subject->renewed == window->renewed);
	if (!same)
		holders_clear(&subject->holders, subject->budget);
	subject->plain = plain;
	subject->of = of;
	subject->renewed = window->renewed;
	if (of)
		holders_update(&subject->holders, &(struct holders_input) {
			.stacks = window->inputs.stacks, .symbols = window->inputs.symbols,
			.functions = window->nodes->functions, .count = window->nodes->count,
			.kernel = kernel, .budget = subject->budget }, of);
	return same;
}

void subject_add(const struct subject *subject, const struct match *match, const struct run *run,
	uint64_t mode[MODES], uint64_t *part)
{
	struct match_reader reader = match_begin(match, run);
	struct run_count count;
	const struct who *who;

	while (match_next(&reader, &count, &who)) {
		mode[who->mode] += count.weight;
		if (who->mode != MODE_IDLE && holders_has(&subject->holders, count.stack))
			*part += count.weight;
	}
}
