/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "time_line.h"

struct time_line *time_line_new(const struct time_line_request *request, const struct moment *moment)
{
	struct question question = { .to = UINT64_MAX, .filter = request->request.excerpt.filter };
	struct time_line *line = util_alloc(sizeof(*line));
	const struct epoch *epoch;

	line->answer = answer_begin(&time_line_kind, moment);
	line->of = request->of;
	epoch = line->answer.epoch;
	if (!epoch)
		return line;
	question.reader = moment->readers[0];
	line->now = epoch_now(epoch);
	series_make(epoch->query, &question, request->of, epoch->kernel, (size_t)request->slots, &line->series);
	line->answer.partial = query_awaits_files(epoch->query, &question);
	line->answer.begun = line->series.slots[line->series.count - 1].whole;
	return line;
}

void time_line_free(struct time_line *line)
{
	if (!line)
		return;
	answer_end(&line->answer);
	free(line);
}

static struct answer *make(const struct request *request, const struct moment *moment)
{
	return &time_line_new((const struct time_line_request *)request, moment)->answer;
}

static void free_answer(struct answer *answer)
{
	time_line_free((struct time_line *)answer);
}

const struct answer_kind time_line_kind = {
	.name = "time line", .request_size = sizeof(struct time_line_request), .questions = 1,
	.make = make, .free = free_answer,
};
