/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "answer.h"

struct answer answer_begin(const struct answer_kind *kind, const struct moment *moment)
{
	struct answer answer = { .kind = kind, .boot = moment->epoch ? moment->epoch->number : 0 };

	if (moment->epoch && moment->epoch->known) {
		answer.epoch = epoch_hold(moment->epoch);
		answer.symbols = moment->epoch->inputs.symbols;
		answer.zero = epoch_uptime(moment->epoch).zero;
	}
	return answer;
}

struct answer *answer_new(const struct request *request, const struct moment *moment)
{
	struct query *query = moment->epoch ? moment->epoch->query : NULL;
	struct answer *answer;

	if (query)
		query_heed(query, moment->stop);
	answer = request->kind->make(request, moment);
	if (query)
		query_heed(query, NULL);
	return answer;
}

void answer_free(struct answer *answer)
{
	if (!answer)
		return;
	if (answer->kind->free)
		answer->kind->free(answer);
	epoch_release(answer->epoch);
	free(answer);
}

/* Its end, by the guest's clock; never 0. */
static uint64_t end_of(const struct excerpt *excerpt)
{
	int64_t end = (int64_t)excerpt->until_ns - excerpt->back_ns;

	return end > 1 ? (uint64_t)end : 1;
}

struct question excerpt_question(const struct epoch *epoch, const struct excerpt *excerpt)
{
	uint64_t now = epoch_now(epoch);
	struct question question = {
		.to = excerpt->until_ns ? end_of(excerpt) : UINT64_MAX, .filter = excerpt->filter,
		.by = excerpt->by,
	};
	uint64_t end = question.to < now ? question.to : now;

	if (excerpt->window_ns && excerpt->window_ns < end)
		question.from = end - excerpt->window_ns;
	/* A zero that is later than the end belongs to an earlier boot, so it is ignored. */
	if (!excerpt->moved && excerpt->zero_ns > question.from && excerpt->zero_ns <= end)
		question.from = excerpt->zero_ns;
	if (excerpt->moved)
		query_round(epoch->query, &question);
	return question;
}

struct question excerpt_base_question(const struct epoch *epoch, const struct excerpt *excerpt)
{
	struct excerpt base = *excerpt;

	base.window_ns = excerpt->base.window_ns;
	base.zero_ns = excerpt->base.zero_ns;
	base.until_ns = excerpt->base.until_ns;
	base.back_ns = excerpt->base.back_ns;
	base.moved = (uint32_t)excerpt->base.moved;
	return excerpt_question(epoch, &base);
}
