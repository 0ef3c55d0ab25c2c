/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "agent/base/util.h"
#include "agent/formats/writing/csv_text.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/stop.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum { LOOK_MS = 20 };			/* between two looks whether the tree is whole */

bool report_take_answer(struct report *report, int what, const struct request *request, struct answer **answer)
{
	struct answer *newer;

	if ((int)report->asked_for < what)
		subscription_ask(report->subscription, request);
	report->asked_for = what;
	newer = subscription_take(report->subscription);
	if (newer) {
		answer_free(*answer);
		*answer = newer;
	}
	return *answer && (!(*answer)->partial || report_is_late(report));
}

/* Asks for rows with 1/N of the weight or more. N is whole, and rounded up, so that no row is missing. */
bool report_find_tree(struct report *report)
{
	struct answer *answer = (struct answer *)report->tree;
	struct call_tree_request request;
	uint32_t least = report->request.least;
	bool whole;

	if (report->request.tree < 0 || report->asked_for > ASKED_TREE)
		return true;
	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &call_tree_kind;
	request.request.excerpt = report->asked_excerpt;
	request.request.pause_ms = LOOK_MS;
	request.tree.orders = 1u << report->request.tree;
	request.tree.least = least ? (100 + least - 1) / least : 0;
	request.tree.deepest = least ? 0 : UINT32_MAX;
	whole = report_take_answer(report, ASKED_TREE, &request.request, &answer);
	report->tree = (struct call_tree *)answer;
	return whole;
}

static const struct tree_list *list_of(const struct report *report)
{
	return report->tree && report->tree->tree ? &report->tree->tree->lists[report->request.tree] : NULL;
}

const struct tree_row *report_tree_row(const struct report *report, size_t *at)
{
	const struct tree_list *list = list_of(report);

	while (list && *at < list->count) {
		const struct tree_row *row = &list->rows[(*at)++];

		if ((unsigned __int128)row->total * 100 >=
				(unsigned __int128)report->tree->tree->weight * report->request.least)
			return row;
	}
	return NULL;
}

uint64_t report_tree_missing(const struct report *report)
{
	const struct tree_list *list = list_of(report);

	return list && !report->request.least ? list->left_out : 0;
}

/* A row's caller (or callee, of a tree upwards) is the row before it whose depth is less by one. */
static void put_csv_row(FILE *out, const struct report *report, const struct tree_row *row)
{
	const struct function *function = symbols_get(report->epoch->inputs.symbols, row->function);
	uint64_t weight = report->tree->tree->weight;

	fprintf(out, "%" PRIu32 ",", row->depth);
	csv_text_put(out, function->name);
	putc(',', out);
	csv_text_put(out, function->object);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.4f,%" PRIu64 "\n", row->self, row->total,
		weight ? 100.0 * (double)row->total / (double)weight : 0, row->samples);
}

bool report_tree_csv(const struct report *report, FILE *out, char **error)
{
	const struct tree_row *row;
	size_t at = 0;

	if (!report->tree->tree || report->tree->tree->scarce)
		return util_fail(error, "CSV: not written: no memory for the tree; give more by --memory, or take "
			"fewer --seconds");
	fputs("depth,function,object,self,total,total_percent,samples\n", out);
	while ((row = report_tree_row(report, &at)) && !stop_now(session_given_up(report->session)))
		put_csv_row(out, report, row);
	return true;
}
