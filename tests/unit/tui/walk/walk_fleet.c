/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/fleet/fleet.h"
#include "tests/unit/tui/fake_session.h"
#include "walk_fleet.h"

static const struct vitals *given_vitals;
static const struct function_table *given_functions;
static enum group_by given_by;
static struct fake_wanted asked;

struct vitals *__real_fleet_vitals(struct fleet *fleet, uint64_t now);
struct vitals *__wrap_fleet_vitals(struct fleet *fleet, uint64_t now);
struct function_table *__real_fleet_functions(struct fleet *fleet, uint64_t now);
struct function_table *__wrap_fleet_functions(struct fleet *fleet, uint64_t now);
void __real_fleet_request(struct fleet *fleet, const struct request *request);
void __wrap_fleet_request(struct fleet *fleet, const struct request *request);

struct vitals *__wrap_fleet_vitals(struct fleet *fleet, uint64_t now)
{
	struct vitals *vitals = __real_fleet_vitals(fleet, now);

	given_vitals = vitals;
	return vitals;
}

struct function_table *__wrap_fleet_functions(struct fleet *fleet, uint64_t now)
{
	struct function_table *functions = __real_fleet_functions(fleet, now);

	given_functions = functions;
	given_by = functions->by;
	return functions;
}

void __wrap_fleet_request(struct fleet *fleet, const struct request *request)
{
	fake_keep(&asked, request);
	__real_fleet_request(fleet, request);
}

const struct vitals *walk_fleet_vitals(void)
{
	const struct vitals *vitals = given_vitals;

	given_vitals = NULL;
	return vitals;
}

const struct function_table *walk_fleet_functions(void)
{
	const struct function_table *functions = given_functions;

	given_functions = NULL;
	return functions;
}

enum group_by walk_fleet_by(void)
{
	return given_by;
}

const struct fake_wanted *walk_fleet_wanted(void)
{
	return &asked;
}
