/* SPDX-License-Identifier: MIT */
/* What the screen over all asks of the fleet, and gets: the linker leads both past here. */
#ifndef WALK_FLEET_H
#define WALK_FLEET_H

struct fake_wish;
struct function_table;
struct vitals;

const struct vitals *walk_fleet_vitals(void);	/* since it was asked last; NULL: none */
const struct function_table *walk_fleet_functions(void);
const struct fake_wish *walk_fleet_wish(void);	/* the newest */

#endif
