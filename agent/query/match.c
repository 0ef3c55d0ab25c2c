/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/query/tree/contexts.h"
#include "agent/query/tree/tree.h"
#include "agent/store/stacks.h"
#include "match.h"
#include "stop.h"

enum { KNOWN = 1 << CONTEXTS, STEP = 1024 };	/* KNOWN: among the bits in which somebody passes */

/* ---- stacks ---- */

enum {
	MARKED = 1 << FILTER_TERMS,	/* the bits below are known: one for each term that looks at stacks */
	UNREAD = MARKED << 1,		/* a term asks for the function's file, which is not known yet */
};

static bool looks_at_stacks(const struct filter_term *term)
{
	return term->by == FILTER_OBJECT || term->by == FILTER_FILE || term->by == FILTER_UNDER ||
		term->by >= FILTER_WORDS_END;
}

/* These terms look at the function that was running; the others at all functions of the stack. */
static bool looks_at_leaf(const struct filter_term *term)
{
	return term->by == FILTER_OBJECT || term->by == FILTER_FILE || term->by == FILTER_RUNNING;
}

void stack_filter_clear(struct stack_filter *filter)
{
	budget_free(filter->budget, filter->marks, filter->count * sizeof(*filter->marks));
	budget_free(filter->budget, filter->by_node, filter->node_room * sizeof(*filter->by_node));
	filter->marks = filter->by_node = NULL;
	filter->count = filter->node_count = filter->node_room = 0;
	filter->unread = 0;
}

bool stack_filter_changed(struct stack_filter *filter)
{
	for (uint32_t i = 0; filter->unread && i < filter->count; i++)
		if (filter->marks[i] & UNREAD && symbols_line(filter->symbols, i)) {
			stack_filter_clear(filter);
			return true;
		}
	return false;
}

static bool is_empty(const struct stack_filter *filter)
{
	for (uint32_t i = 0; i < filter->filter->count; i++)
		if (looks_at_stacks(&filter->filter->terms[i]))
			return false;
	return true;
}

/* Charges without asking: the number of functions is bounded. */
static void grow(struct stack_filter *filter, uint32_t function)
{
	size_t count = symbols_functions(filter->symbols), old = filter->count;

	count = count > function ? count : (size_t)function + 1;
	budget_charge(filter->budget, (count - old) * sizeof(*filter->marks));
	filter->marks = util_grow(filter->marks, count, sizeof(*filter->marks));
	memset(filter->marks + old, 0, (count - old) * sizeof(*filter->marks));
	filter->count = (uint32_t)count;
}

/* The kernel's own object has two names: that on the screen of one machine, and that over many. */
static bool is_of_object(const struct stack_filter *filter, const struct filter_term *term,
	const struct function *function)
{
	char name[TREE_KERNEL];

	if (filter_term_finds(filter->filter, term, function->object))
		return true;
	return function->kernel && strcmp(function->object, "kernel") == 0 && filter->kernel &&
		filter_term_finds(filter->filter, term, tree_kernel_object(filter->kernel, name));
}

static bool fits(const struct stack_filter *filter, const struct filter_term *term, const struct function *function)
{
	const char *text = filter->filter->text + term->text;

	if (term->by >= FILTER_WORDS_END)
		return tree_name(function, filter->kernel ? filter->kernel : "") == strtoull(text, NULL, 16);
	return term->by == FILTER_OBJECT ? is_of_object(filter, term, function) :
		filter_term_finds(filter->filter, term, function->name);
}

/* True: a term asks for the function's file, which is still being read. */
static bool awaits_file(const struct stack_filter *filter, uint32_t function)
{
	char text[GROUPING_FILE];

	return !filter_lacks(filter->filter, FILTER_FILE) && !grouping_file(filter->symbols, function, text);
}

static bool is_of_file(const struct stack_filter *filter, const struct filter_term *term, uint32_t function)
{
	char text[GROUPING_FILE];
	const char *file = grouping_file(filter->symbols, function, text);

	return file && filter_term_finds(filter->filter, term, file);
}

static unsigned find_marks(const struct stack_filter *filter, uint32_t function)
{
	const struct function *names = symbols_get(filter->symbols, function);
	unsigned marks = awaits_file(filter, function) ? MARKED | UNREAD : MARKED, bit = 1;

	for (uint32_t i = 0; i < filter->filter->count; i++) {
		const struct filter_term *term = &filter->filter->terms[i];

		if (!looks_at_stacks(term))
			continue;
		if (term->by == FILTER_FILE ? is_of_file(filter, term, function) : fits(filter, term, names))
			marks |= bit;
		bit <<= 1;
	}
	return marks;
}

static unsigned make_marks(struct stack_filter *filter, uint32_t function)
{
	if (function >= filter->count)
		grow(filter, function);
	filter->marks[function] = (uint16_t)find_marks(filter, function);
	filter->unread += (filter->marks[function] & UNREAD) != 0;
	return filter->marks[function];
}

static inline unsigned marks_of(struct stack_filter *filter, uint32_t function)
{
	unsigned marks = function < filter->count ? filter->marks[function] : 0;

	return marks ? marks : make_marks(filter, function);
}

/* `running`: the marks of the function that was running; `all`: of any function of the stack. */
static bool holds(const struct filter *filter, unsigned running, unsigned all)
{
	unsigned bit = 1;

	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];
		unsigned marks = looks_at_leaf(term) ? running : all;

		if (!looks_at_stacks(term))
			continue;
		if (((marks & bit) != 0) == term->negated)
			return false;
		bit <<= 1;
	}
	return true;
}

/* Charges without asking: two bytes a node, whose number is bounded. */
static void grow_nodes(struct stack_filter *filter, uint32_t count)
{
	uint32_t room = count + count / 4 + 1024;

	if (filter->by_node && count <= filter->node_room)
		return;
	budget_charge(filter->budget, (room - filter->node_room) * sizeof(*filter->by_node));
	filter->by_node = util_grow(filter->by_node, room, sizeof(*filter->by_node));
	filter->node_room = room;
}

void stack_filter_meet(struct stack_filter *filter, const uint32_t *functions, uint32_t count)
{
	const struct node *nodes = stacks_list(filter->stacks);

	if (is_empty(filter))
		return;
	grow_nodes(filter, count);
	for (uint32_t i = filter->node_count; i < count; i++) {
		unsigned running = marks_of(filter, functions[i]), all = running;

		if (nodes[i].parent != STACKS_NONE)
			all |= filter->by_node[nodes[i].parent];
		all &= STACK_PASSES - 1u;
		filter->by_node[i] = (uint16_t)(all | (holds(filter->filter, running, all) ? STACK_PASSES : 0));
	}
	filter->node_count = count;
}

static bool stack_filter_passes_alone(struct stack_filter *filter, uint32_t function)
{
	unsigned marks;

	if (is_empty(filter))
		return true;
	marks = marks_of(filter, function);
	return holds(filter->filter, marks, marks);
}

/* ---- who ran them ---- */

static void give_up(struct whos *whos)
{
	budget_give(whos->budget, whos->count);
	budget_give(whos->budget, whos->rows ? whos->count * CONTEXTS * sizeof(*whos->rows) : 0);
	free(whos->rows);
	whos->rows = NULL;
}

void whos_clear(struct whos *whos)
{
	give_up(whos);
	free(whos->passes);
	*whos = (struct whos) { .budget = whos->budget };
}

/* Charges without asking: some bytes for each number, which are bounded. */
void whos_meet(struct whos *whos, const struct who *list, uint32_t count)
{
	uint32_t room = (count + count / 4) / STEP * STEP + STEP;

	if (list != whos->list)
		whos_clear(whos);
	whos->list = list;
	if (count <= whos->count)
		return;
	give_up(whos);
	whos->passes = util_grow(whos->passes, room, 1);
	memset(whos->passes + whos->count, 0, room - whos->count);
	budget_charge(whos->budget, room);
	whos->count = room;
}

uint8_t match_ask(const struct match *match, uint32_t who)
{
	int last = match->contexts ? CONTEXTS - 1 : CONTEXT_UNTOLD;
	uint8_t passes = KNOWN;

	for (int context = CONTEXT_UNTOLD; context <= last; context++)
		passes |= (uint8_t)(filter_passes(match->filter, match->threads, &match->whos->list[who],
			(enum context)context) << context);
	match->whos->passes[who] = passes;
	return passes;
}

uint32_t match_row(const struct match_reader *reader, uint32_t who)
{
	const struct match *match = reader->match;
	struct whos *whos = match->whos;
	size_t size = (size_t)whos->count * CONTEXTS * sizeof(*whos->rows);
	uint32_t *row;

	if (whos->list[who].mode == MODE_IDLE)
		return match->idle;
	if (!whos->rows) {
		whos->rows = budget_resize(whos->budget, NULL, 0, size);
		if (!whos->rows)
			return grouping_who(match->grouping, &whos->list[who], reader->context);
		memset(whos->rows, 0xff, size);
	}
	row = &whos->rows[who * CONTEXTS + reader->context];
	if (*row == FUNCTION_NONE)
		*row = grouping_who(match->grouping, &whos->list[who], reader->context);
	return *row;
}

/* ---- counts ---- */

struct match_reader match_begin(const struct match *match, const struct run *run)
{
	struct match_reader reader = {
		.match = match, .all = !match->filter->count && !match->contexts,
	};

	if (run)
		reader.reader = run_read(run);
	if (!reader.all)
		reader.idle = stack_filter_passes_alone(match->stack_filter, match->idle);
	return reader;
}

void match_look(struct match_reader *reader, uint32_t stack)
{
	const struct match *match = reader->match;

	reader->begun = true;
	reader->stack = stack;
	reader->context = CONTEXT_UNTOLD;
	if (match->contexts && stack != STACKS_NONE)
		reader->context = (enum context)match->contexts[stack];
	reader->stack_passes = stack == STACKS_NONE ?
		stack_filter_passes_alone(match->stack_filter, match->unknown) :
		stack_filter_passes(match->stack_filter, stack);
}

/* ---- the function of each node ---- */

void node_functions_clear(struct node_functions *nodes)
{
	free(nodes->functions);
	free(nodes->contexts);
	free(nodes->outermost);
	free(nodes->begun);
	*nodes = (struct node_functions) { 0 };
}

enum { AHEAD = 8 };			/* nodes whose functions are fetched before they are looked up */

static void fetch(const struct stacks *stacks, const struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id);

	symbols_fetch(symbols, node.space, node.address);
}

static uint32_t function_of(const struct stacks *stacks, struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id);

	return symbols_function(symbols, node.space, node.address);
}

/* Cuts the node off from a caller that cannot be any. True: whether it is cut off has changed. */
static bool check_caller(struct stacks *stacks, struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id), caller;
	enum returning returning;

	if (node.walked == STACKS_NONE)
		return false;
	caller = stacks_node(stacks, node.walked);
	if (!caller.returned || caller.space != node.space)
		return false;
	returning = symbols_returning(symbols, node.space, caller.address, node.address, node.returned);
	return stacks_cut_off(stacks, id, returning == RETURNING_NEVER || (returning == RETURNING_NOWHERE &&
		(caller.walked == STACKS_NONE || stacks_node(stacks, caller.walked).space != caller.space)));
}

/* Looks all functions up again. True: a function, or a caller, is another one. */
static bool rename_nodes(struct node_functions *nodes, struct stacks *stacks, struct symbols *symbols,
	const atomic_bool *stop)
{
	bool renamed = false;

	for (uint32_t i = 0; i < nodes->count && !stop_at(stop, i); i++) {
		uint32_t function = function_of(stacks, symbols, i);

		renamed |= check_caller(stacks, symbols, i) || function != nodes->functions[i];
		nodes->functions[i] = function;
	}
	return renamed;
}

/* Functions or callers of nodes are others than before. */
static void tell_renamed(struct node_functions *nodes)
{
	nodes->renamed++;
	nodes->context_count = nodes->outermost_count = 0;
}

void node_functions_update(struct node_functions *nodes, struct stacks *stacks, struct symbols *symbols,
	const atomic_bool *stop)
{
	uint64_t generation = symbols_generation(symbols);
	uint32_t count = stacks_nodes(stacks);

	if (generation != nodes->generation && rename_nodes(nodes, stacks, symbols, stop))
		tell_renamed(nodes);
	nodes->generation = generation;
	if (!nodes->functions)		/* the system backs the pages in use */
		nodes->functions = util_alloc(STACKS_NODES_MAX * sizeof(*nodes->functions));
	for (; nodes->count < count && !stop_at(stop, nodes->count); nodes->count++) {
		if (nodes->count + AHEAD < count)
			fetch(stacks, symbols, nodes->count + AHEAD);
		nodes->functions[nodes->count] = function_of(stacks, symbols, nodes->count);
		check_caller(stacks, symbols, nodes->count);
	}
}

/* The context that a function begins. Its names never change. */
static enum context begun_by(struct node_functions *nodes, const struct symbols *symbols, uint32_t function)
{
	size_t count = symbols_functions(symbols);

	if (function >= nodes->begun_count) {
		nodes->begun = util_grow(nodes->begun, count, sizeof(*nodes->begun));
		memset(nodes->begun + nodes->begun_count, 0, count - nodes->begun_count);
		nodes->begun_count = (uint32_t)count;
	}
	if (!nodes->begun[function])
		nodes->begun[function] = (uint8_t)(context_of_function(symbols_get(symbols, function)) + 1);
	return (enum context)(nodes->begun[function] - 1);
}

const uint8_t *node_functions_contexts(struct node_functions *nodes, const struct stacks *stacks,
	const struct symbols *symbols, const atomic_bool *stop)
{
	if (!nodes->contexts)		/* the system backs the pages in use */
		nodes->contexts = util_alloc(STACKS_NODES_MAX * sizeof(*nodes->contexts));
	for (; nodes->context_count < nodes->count && !stop_at(stop, nodes->context_count); nodes->context_count++) {
		uint32_t parent = stacks_node(stacks, nodes->context_count).parent;
		enum context context = begun_by(nodes, symbols, nodes->functions[nodes->context_count]);

		if (context == CONTEXT_UNTOLD)
			context = parent == STACKS_NONE ? CONTEXT_TASK : (enum context)nodes->contexts[parent];
		nodes->contexts[nodes->context_count] = (uint8_t)context;
	}
	return nodes->contexts;
}

const uint8_t *node_functions_outermost(struct node_functions *nodes, const struct stacks *stacks)
{
	const struct node *list = stacks_list(stacks);

	if (!nodes->outermost)		/* the system backs the pages in use */
		nodes->outermost = util_alloc(STACKS_NODES_MAX * sizeof(*nodes->outermost));
	for (; nodes->outermost_count < nodes->count; nodes->outermost_count++) {
		uint32_t id = nodes->outermost_count, above = list[id].parent;

		while (above != STACKS_NONE && nodes->functions[above] != nodes->functions[id])
			above = list[above].parent;
		nodes->outermost[id] = above == STACKS_NONE;
	}
	return nodes->outermost;
}

void node_functions_forget(struct node_functions *nodes)
{
	nodes->count = 0;
	tell_renamed(nodes);
}
