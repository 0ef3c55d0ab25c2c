/* SPDX-License-Identifier: MIT */
/* A function's page over all machines: each of its parts is summed as the answer of that kind is. */
#include <stddef.h>

#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

struct function_page_request fleet_page_request(const struct fleet *fleet, size_t index)
{
	struct function_page_request asked = fleet->page_request;

	asked.request.excerpt = fleet_excerpt(fleet, index);
	return asked;
}

static bool has_page(const struct fleet *fleet, size_t index)
{
	const struct function_page *page = fleet->machines[index].page;

	return page && page->tree->of == fleet->page_request.tree.of;
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
	struct call_tree_request own = fleet->tree_request;
	struct parts parts = { .trees = { NULL } };
	struct call_tree *sum;

	for (size_t i = 0; i < fleet->count; i++)
		parts.trees[i] = has_page(fleet, i) ? fleet->machines[i].page->tree : NULL;
	fleet->tree_request = function_page_tree(&fleet->page_request);
	exchange(fleet, &parts);
	sum = fleet_tree(fleet, now);
	exchange(fleet, &parts);
	fleet->tree_request = own;
	return sum;
}

static struct function_table *sum_tables(struct fleet *fleet, enum page_table table, uint64_t now)
{
	struct function_request own = fleet->function_request;
	struct parts parts = { .trees = { NULL } };
	struct function_table *sum;

	for (size_t i = 0; i < fleet->count; i++)
		parts.tables[i] = has_page(fleet, i) ? fleet->machines[i].page->tables[table] : NULL;
	fleet->function_request = function_page_table(&fleet->page_request, table);
	exchange(fleet, &parts);
	sum = fleet_functions(fleet, now);
	exchange(fleet, &parts);
	fleet->function_request = own;
	return sum;
}

struct function_page *fleet_page(struct fleet *fleet, uint64_t now)
{
	struct function_page *page = util_alloc(sizeof(*page));

	page->tree = sum_trees(fleet, now);
	page->answer = page->tree->answer;
	page->answer.kind = &function_page_kind;
	for (int i = 0; i < PAGE_TABLES; i++)
		page->tables[i] = sum_tables(fleet, (enum page_table)i, now);
	return page;
}
