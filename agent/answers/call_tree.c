/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/tree/tree.h"
#include "call_tree.h"

static void compare(struct call_tree *answer, const struct call_tree_request *request, const struct moment *moment)
{
	struct question question = excerpt_base_question(answer->answer.epoch, &request->request.excerpt);
	struct tree_question wanted;
	struct tree *base;

	question.by = GROUP_FUNCTION;
	question.reader = moment->readers[0];
	tree_compare_question(answer->tree, &request->tree, &wanted);
	base = query_tree(answer->answer.epoch->query, &question, &wanted, answer->kernel);
	tree_compare(answer->tree, base);
	answer->answer.partial = query_awaits_files(answer->answer.epoch->query, &question);
	tree_free(base);
}

/* Unfolds the way to the function that is sought. */
static void find(const struct call_tree *answer, struct question question, struct tree_question *wanted)
{
	struct tree_question around;
	struct tree *tree;

	if (!tree_way_question(wanted, &around))
		return;
	question.reader = QUERY_ANYBODY;	/* it is asked seldom */
	tree = query_tree(answer->answer.epoch->query, &question, &around, answer->kernel);
	tree_way_unfold(tree, answer->answer.symbols, answer->kernel, wanted);
	tree_free(tree);
}

/* Asks a worker for those that are not known yet. */
static void tell_lines(struct call_tree *answer, const struct call_tree_request *request)
{
	uint32_t count = request->line_count < TREE_TRENDS ? (uint32_t)request->line_count : TREE_TRENDS;
	uint64_t paths[TREE_TRENDS];

	memcpy(paths, request->lines, count * sizeof(*paths));
	tree_sort_paths(paths, count);
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < answer->tree->lists[order].count; i++) {
			struct tree_row *row = &answer->tree->lists[order].rows[i];

			if (tree_has_path(paths, count, row->path))
				row->line = symbols_source(answer->answer.epoch->inputs.symbols, row->function);
		}
}

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct call_tree_request *request = (const struct call_tree_request *)asked;
	const struct excerpt *excerpt = &asked->excerpt;
	struct call_tree *answer = util_alloc(sizeof(*answer));
	struct tree_question wanted = request->tree;
	struct question question;

	answer->answer = answer_begin(&call_tree_kind, moment);
	answer->filter = excerpt->filter;
	answer->of = request->tree.of;
	answer->recursion = request->tree.recursion;
	answer->hot = request->tree.hot;
	answer->below = request->tree.below;
	answer->find = request->tree.find;
	if (!answer->answer.epoch)
		return &answer->answer;
	util_print(answer->kernel, sizeof(answer->kernel), "%s", answer->answer.epoch->kernel);
	question = excerpt_question(answer->answer.epoch, excerpt);
	question.by = GROUP_FUNCTION;
	question.reader = moment->readers[0];
	find(answer, question, &wanted);
	answer->tree = query_tree(answer->answer.epoch->query, &question, &wanted, answer->kernel);
	if (excerpt->base.until_ns)
		compare(answer, request, moment);
	tell_lines(answer, request);
	answer->answer.begun = answer->tree->samples;
	answer->answer.partial = answer->answer.partial || query_awaits_files(answer->answer.epoch->query, &question);
	return &answer->answer;
}

static void free_answer(struct answer *answer)
{
	struct call_tree *call_tree = (struct call_tree *)answer;

	for (size_t i = 0; i < call_tree->machine_count; i++)
		epoch_release(call_tree->machines[i]);
	free(call_tree->machines);
	tree_free(call_tree->tree);
}

const struct answer_kind call_tree_kind = {
	.name = "call tree", .request_size = sizeof(struct call_tree_request), .questions = 1,
	.make = make, .free = free_answer,
};
