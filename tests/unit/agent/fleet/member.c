/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/answers.h"
#include "member.h"

const char *const member_names[MEMBERS] = { "1 web", "2 db", "3 mail" };

struct member member_new(void)
{
	struct member member;

	member.symbols = hand_symbols(member.functions);
	return member;
}

void member_free(struct member *member)
{
	symbols_free(member->symbols);
}

void member_give(struct fleet *fleet, size_t machine, struct answers *answers)
{
	fleet_take(fleet, machine, &answers->vitals->answer, util_now());
	fleet_take(fleet, machine, &answers->functions->answer, util_now());
	fleet_take(fleet, machine, &answers->line->answer, util_now());
	free(answers);
}

void member_ask(struct fleet *fleet, const struct function_request *functions)
{
	struct vitals_request vitals = answers_vitals_request();

	vitals.request.excerpt = functions->request.excerpt;
	fleet_request(fleet, &vitals.request);
	fleet_request(fleet, &functions->request);
}

struct answers *member_answers(const struct member *member, const char *kernel, uint32_t rate, uint64_t now)
{
	struct answers *answers = hand_answers(member->symbols, member->functions);

	strcpy(answers->vitals->kernel, kernel);
	strcpy(answers->functions->kernel, kernel);
	answers->vitals->rate = rate;
	answers->vitals->now = now;
	answers->functions->table->to = now;
	answers->functions->table->from = now - 10 * NS_PER_SECOND;
	return answers;
}

void member_begin_at_midnight(void)
{
	int seconds = (int)(time(NULL) % (24 * 3600));
	char *zone = util_format("HERE%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);

	assert_int_equal(setenv("TZ", zone, 1), 0);
	tzset();
	free(zone);
}
