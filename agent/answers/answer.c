/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "answer.h"

struct answer answer_begin(const struct answer_kind *kind, const struct moment *moment)
{
	struct answer answer = { .kind = kind, .boot = moment->epoch ? moment->epoch->number : 0 };

	if (moment->epoch && moment->epoch->known) {
		answer.epoch = epoch_hold(moment->epoch);
		answer.symbols = moment->epoch->inputs.symbols;
	}
	return answer;
}

void answer_end(struct answer *answer)
{
	epoch_release(answer->epoch);
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
	if (answer)
		answer->kind->free(answer);
}

struct question excerpt_question(const struct epoch *epoch, const struct excerpt *excerpt)
{
	uint64_t now = epoch_now(epoch);
	uint64_t end = excerpt->until_ns && excerpt->until_ns < now ? excerpt->until_ns : now;
	struct question question = {
		.to = excerpt->until_ns ? excerpt->until_ns : UINT64_MAX, .filter = excerpt->filter,
	};

	if (excerpt->window_ns && excerpt->window_ns < end)
		question.from = end - excerpt->window_ns;
	/* A zero that is later than the end belongs to an earlier boot, so it is ignored. */
	if (excerpt->zero_ns > question.from && excerpt->zero_ns <= end)
		question.from = excerpt->zero_ns;
	return question;
}
