/* SPDX-License-Identifier: MIT */
/* What the screen over all asks the fleet, and gets. The linker's --wrap routes both through this file. */
#ifndef WALK_FLEET_H
#define WALK_FLEET_H

#include "agent/query/question/question.h"

struct fake_wanted;
struct function_table;
struct vitals;

const struct vitals *walk_fleet_vitals(void);	/* new since the last call; NULL: none */
const struct function_table *walk_fleet_functions(void);
enum group_by walk_fleet_by(void);		/* of the functions that were given last */
const struct fake_wanted *walk_fleet_wanted(void);	/* what was asked last */

#endif
