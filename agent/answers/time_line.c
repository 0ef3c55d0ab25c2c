/* SPDX-License-Identifier: MIT */

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "time_line.h"

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct time_line_request *request = (const struct time_line_request *)asked;
	struct question question = { .to = UINT64_MAX, .filter = request->request.excerpt.filter };
	struct time_line *line = util_alloc(sizeof(*line));
	const struct epoch *epoch;

	line->answer = answer_begin(&time_line_kind, moment);
	line->of = request->of;
	epoch = line->answer.epoch;
	if (!epoch)
		return &line->answer;
	question.reader = moment->readers[0];
	line->now = epoch_now(epoch);
	series_make(epoch->query, &question, request->of, (size_t)request->slots, &line->series);
	line->answer.partial = query_awaits_files(epoch->query, &question);
	line->answer.begun = line->series.slots[line->series.count - 1].whole;
	return &line->answer;
}

const struct answer_kind time_line_kind = {
	.name = "time line", .request_size = sizeof(struct time_line_request), .questions = 1,
	.make = make,
};
