/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "function_page.h"

/* The rows whose trend is wanted are those that are shown with their line: the function itself. */
struct call_tree_request function_page_tree(const struct function_page_request *request)
{
	struct call_tree_request tree;

	memset(&tree, 0, sizeof(tree));
	tree.request = request->request;
	tree.request.kind = &call_tree_kind;
	tree.tree = request->tree;
	tree.line_count = request->tree.trend_count;
	memcpy(tree.lines, request->tree.trends, sizeof(tree.lines));
	return tree;
}

/* Words that are part of a function's name choose the rows of a table of functions, which these are not. */
static void drop_names(struct filter *filter)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by != FILTER_FUNCTION)
			filter->terms[count++] = filter->terms[i];
	memset(filter->terms + count, 0, (filter->count - count) * sizeof(*filter->terms));
	filter->count = count;
}

/* If the filter has no room for the function's term, nothing passes: what a wrong filter lets pass would be a lie. */
struct function_request function_page_table(const struct function_page_request *request, enum page_table table)
{
	static const enum group_by groups[PAGE_TABLES] = { GROUP_THREAD, GROUP_CPU, GROUP_MODE, GROUP_LINE };
	struct function_request asked;
	struct filter *filter = &asked.request.excerpt.filter;

	memset(&asked, 0, sizeof(asked));
	asked.request = request->request;
	asked.request.kind = &function_table_kind;
	asked.request.excerpt.by = groups[table];
	asked.selected = FUNCTION_NONE;
	drop_names(filter);
	if (!filter_add_function(filter, table == PAGE_LINES ? FILTER_RUNNING : FILTER_HAS, request->tree.of)) {
		memset(filter, 0, sizeof(*filter));
		filter_add_function(filter, FILTER_RUNNING, 0);
	}
	return asked;
}

/* Each part is a question of its own, with its own filter: so each has its own reader. */
static struct moment moment_of(const struct moment *moment, int part)
{
	struct moment own = *moment;

	own.readers[0] = moment->readers[part];
	return own;
}

_Static_assert(1 + PAGE_TABLES <= QUESTIONS_MOST, "each part has a reader");

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct function_page_request *request = (const struct function_page_request *)asked;
	struct call_tree_request tree = function_page_tree(request);
	struct function_page *page = util_alloc(sizeof(*page));

	page->answer = answer_begin(&function_page_kind, moment);
	page->tree = (struct call_tree *)call_tree_kind.make(&tree.request, moment);
	page->answer.begun = page->tree->answer.begun;
	page->answer.partial = page->tree->answer.partial;
	for (int i = 0; i < PAGE_TABLES; i++) {
		struct function_request table = function_page_table(request, (enum page_table)i);
		struct moment own = moment_of(moment, 1 + i);

		page->tables[i] = (struct function_table *)function_table_kind.make(&table.request, &own);
		page->answer.partial = page->answer.partial || page->tables[i]->answer.partial;
	}
	return &page->answer;
}

static void free_answer(struct answer *answer)
{
	struct function_page *page = (struct function_page *)answer;

	answer_free((struct answer *)page->tree);
	for (int i = 0; i < PAGE_TABLES; i++)
		answer_free((struct answer *)page->tables[i]);
}

const struct answer_kind function_page_kind = {
	.name = "function page", .request_size = sizeof(struct function_page_request), .questions = 1 + PAGE_TABLES,
	.make = make, .free = free_answer,
};
