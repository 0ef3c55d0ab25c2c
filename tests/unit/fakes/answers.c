/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/wire/event.h"
#include "answers.h"

const struct excerpt answers_all = { .window_ns = 0 };

struct answers *answers_new(struct answer *vitals, struct answer *functions)
{
	struct answers *answers = util_alloc(sizeof(*answers));

	answers->vitals = (struct vitals *)vitals;
	answers->functions = (struct function_table *)functions;
	return answers;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	answer_free((struct answer *)answers->vitals);
	answer_free((struct answer *)answers->functions);
	answer_free((struct answer *)answers->tree);
	answer_free((struct answer *)answers->page);
	answer_free((struct answer *)answers->annotation);
	answer_free((struct answer *)answers->heat);
	if (answers->events)
		answer_free(&answers->events->answer);
	if (answers->timeline)
		answer_free(&answers->timeline->answer);
	answer_free((struct answer *)answers->memory);
	answer_free((struct answer *)answers->line);
	free(answers);
}

struct vitals_request answers_vitals_request(void)
{
	struct vitals_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &vitals_kind;
	request.cpus = VITALS_TRENDS;
	return request;
}

struct function_request answers_function_request(void)
{
	struct function_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &function_table_kind;
	request.selected = FUNCTION_NONE;
	return request;
}
