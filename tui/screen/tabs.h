/* SPDX-License-Identifier: MIT */
/*
 * All that is on the terminal: a screen for each machine, where there are many one over all of
 * them, and the row of tabs that chooses between them. Each keeps its own cursor, window and filter.
 */
#ifndef TABS_H
#define TABS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/fleet/fleet.h"
#include "screen.h"

struct budget;
struct canvas;
struct config;
struct input;
struct pollfd;
struct session;
struct tabs;

struct tabs_machine {
	struct session *session;
	const char *label;		/* what it is called while nothing better is known */
};

enum { TABS_FDS = FLEET_MOST };

/* All outlive them. `budget`: of what is over all; NULL where there is one machine. */
struct tabs *tabs_new(const struct tabs_machine *machines, size_t count, struct budget *budget,
	const struct config *config);
void tabs_free(struct tabs *tabs);

/* As those of screen.h, of the one that is shown. */
bool tabs_step(struct tabs *tabs, uint64_t now);
bool tabs_has_table(const struct tabs *tabs);
enum screen_wish tabs_input(struct tabs *tabs, const struct input *input, uint64_t now);
void tabs_draw(struct tabs *tabs, struct canvas *canvas);

int tabs_fds(const struct tabs *tabs, struct pollfd *fds);	/* TABS_FDS at most; how many */

#endif
