/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "agent/query/match.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "subject.h"

void subject_clear(struct subject *subject)
{
	holders_clear(&subject->holders, subject->budget);
}

bool subject_follow(struct subject *subject, struct query_reader *reader, const struct question *question, uint64_t of,
	const char *kernel)
{
	static const struct filter everything = { .count = 0 };
	struct window *window = &reader->window;
	bool plain = of == 0 && filter_same(&question->filter, &everything), same;

	if (!plain)
		window_look(window, question);
	same = plain == subject->plain && of == subject->of && (plain || subject->renewed == window->renewed);
	if (!same)
		holders_clear(&subject->holders, subject->budget);
	subject->plain = plain;
	subject->of = of;
	subject->renewed = window->renewed;
	if (of)
		holders_update(&subject->holders, &(struct holders_input) {
			.stacks = window->inputs.stacks, .symbols = window->inputs.symbols,
			.functions = window->nodes->functions, .count = window->nodes->count,
			.kernel = kernel, .budget = subject->budget }, of);
	return same;
}

void subject_add(const struct subject *subject, const struct match *match, const struct run *run,
	uint64_t mode[MODES], uint64_t *part)
{
	struct match_reader reader = match_begin(match, run);
	struct run_count count;
	const struct who *who;

	while (match_next(&reader, &count, &who)) {
		mode[who->mode] += count.weight;
		if (who->mode != MODE_IDLE && holders_has(&subject->holders, count.stack))
			*part += count.weight;
	}
}
