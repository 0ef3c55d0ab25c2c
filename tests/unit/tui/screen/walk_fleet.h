/* SPDX-License-Identifier: MIT */
/* What the screen over all asks of the fleet, and gets: the linker leads both past here. */
#ifndef WALK_FLEET_H
#define WALK_FLEET_H

struct picture;
struct session_wish;

const struct picture *walk_fleet_picture(void);	/* since it was asked last; NULL: none */
const struct session_wish *walk_fleet_wish(void);	/* the newest */

#endif
