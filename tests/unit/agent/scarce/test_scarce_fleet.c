/* SPDX-License-Identifier: MIT */
/* Memory is refused while the answers of many machines become one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "scarce.h"
#include "scenes.h"

enum { MACHINES = 3, TICK_NS = 1000000 };	/* TICK_NS: the period of a tick */

static struct answers *part_of(struct fixture *fixture)
{
	struct answers *answers = fixture_answers(fixture);

	answers->functions->table->time = answers->functions->table->weight * TICK_NS;
	return answers;
}

static void give(struct fleet *fleet, int machine, struct answers *part)
{
	fleet_take(fleet, (size_t)machine, &part->vitals->answer, util_now());
	fleet_take(fleet, (size_t)machine, &part->functions->answer, util_now());
	free(part);
}

static struct answers *fleet_all(struct fleet *fleet)
{
	uint64_t now = util_now();

	return answers_new(&fleet_vitals(fleet, now)->answer, &fleet_functions(fleet, now)->answer);
}

static void sample_all(struct fixture *machines)
{
	for (int i = 0; i < MACHINES; i++) {
		fake_guest_sample(machines[i].guest, 0, 10, HOT, CALLER);
		fake_guest_sample(machines[i].guest, 0, 5, i ? COLD : TOLD + 1, CALLER);
	}
}

/* The weight of all rows. Functions without a name are in "[unknown]", so it is what the machines have. */
static uint64_t all_of(const struct answers *answers)
{
	uint64_t self = 0;

	for (size_t i = 0; i < answers->functions->table->count; i++)
		self += answers->functions->table->rows[i].self;
	return self;
}

static void sum_machines(void *context)
{
	static const char *const names[MACHINES] = { "one", "two", "three" };
	struct fixture machines[MACHINES];
	struct answers *parts[MACHINES], *answers;
	struct budget *budget;
	struct fleet *fleet;

	(void)context;
	scarce_pause(true);
	for (int i = 0; i < MACHINES; i++) {
		machines[i] = scene_begin();
		scene_live(&machines[i]);
	}
	sample_all(machines);
	for (int i = 0; i < MACHINES; i++)
		parts[i] = part_of(&machines[i]);
	budget = budget_new(BUDGET_MIB);
	scarce_pause(false);

	fleet = fleet_new(names, MACHINES, budget);
	for (int i = 0; i < MACHINES; i++)
		give(fleet, i, parts[i]);
	answers = fleet_all(fleet);
	assert_int_equal(all_of(answers), answers->functions->table->weight);
	assert_int_equal(answers->functions->table->weight, MACHINES * 15 * TICK_NS);
	answers_free(answers);
	scarce_end();

	sample_all(machines);
	for (int i = 0; i < MACHINES; i++)
		give(fleet, i, part_of(&machines[i]));
	answers = fleet_all(fleet);
	assert_int_equal(all_of(answers), MACHINES * 30 * TICK_NS);
	assert_int_equal(scene_self(answers, "hot"), MACHINES * 20 * TICK_NS);
	assert_int_equal(scene_self(answers, "cold"), (MACHINES - 1) * 10 * TICK_NS);
	assert_int_equal(scene_self(answers, "told_by_the_guest"), 10 * TICK_NS);
	answers_free(answers);
	fleet_free(fleet);
	budget_release(budget);
	for (int i = 0; i < MACHINES; i++)
		fixture_end(&machines[i]);
}

int main(int count, char **arguments)
{
	static const struct scene scenes[] = {
		{ "many machines", sum_machines },
	};

	return scenes_main(scenes, sizeof(scenes) / sizeof(scenes[0]), count, arguments);
}
