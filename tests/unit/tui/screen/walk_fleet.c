/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "agent/fleet/fleet.h"
#include "walk_fleet.h"

static const struct picture *given;
static struct session_wish asked;

struct picture *__real_fleet_picture(struct fleet *fleet, uint64_t now);
struct picture *__wrap_fleet_picture(struct fleet *fleet, uint64_t now);
void __real_fleet_wish(struct fleet *fleet, const struct session_wish *wish);
void __wrap_fleet_wish(struct fleet *fleet, const struct session_wish *wish);

struct picture *__wrap_fleet_picture(struct fleet *fleet, uint64_t now)
{
	struct picture *picture = __real_fleet_picture(fleet, now);

	given = picture;
	return picture;
}

void __wrap_fleet_wish(struct fleet *fleet, const struct session_wish *wish)
{
	asked = *wish;
	__real_fleet_wish(fleet, wish);
}

const struct picture *walk_fleet_picture(void)
{
	const struct picture *picture = given;

	given = NULL;
	return picture;
}

const struct session_wish *walk_fleet_wish(void)
{
	return &asked;
}
