/* SPDX-License-Identifier: MIT */
/*
 * All that is on the terminal: a screen for each machine. With many machines there are also a screen over all of them,
 * and a row of tabs to choose a screen. Each screen keeps its own cursor, window and filter. The screen's thread makes
 * all calls.
 */
#ifndef TABS_H
#define TABS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "agent/fleet/fleet.h"
#include "screen.h"

struct budget;
struct console;
struct canvas;
struct config;
struct input;
struct pollfd;
struct session;
struct tabs;

struct tabs_machine {
	struct session *session;
	const char *label;		/* its name while the VM's is not known; NULL: none */
	struct console *console;	/* of the QEMU that ktop has started; NULL: none */
};

enum { TABS_FDS = FLEET_MOST + 1 };

/* What is given must outlive the tabs. `budget`: pays for the screen over all; NULL: one machine. */
struct tabs *tabs_new(const struct tabs_machine *machines, size_t count, struct budget *budget,
	const struct config *config);
void tabs_free(struct tabs *tabs);

/* The format of snapshots that was chosen last; at first that of the settings. In the list of save_format.h. */
size_t tabs_format(const struct tabs *tabs);

/* As the functions of screen.h, on the screen that is shown. */
bool tabs_step(struct tabs *tabs, uint64_t now);
bool tabs_has_table(const struct tabs *tabs);
enum screen_act tabs_input(struct tabs *tabs, const struct input *input, uint64_t now);
bool tabs_awaits(struct tabs *tabs, const struct input *input, uint64_t now);
bool tabs_is_urgent(const struct tabs *tabs, const struct input *input);
void tabs_draw(struct tabs *tabs, struct canvas *canvas);

int tabs_fds(const struct tabs *tabs, struct pollfd *fds);	/* fills in at most TABS_FDS; returns how many */

/* ---- the name of a snapshot ---- */

/*
 * "ktop-KERNEL-20260101-120000.folded", in local time, in the current folder. Two snapshots in one second get the same
 * name here; the saver finds a free name for the second. The kernel's name comes from the guest: only its letters,
 * digits, '.', '_' and '-' are used. Returns `name`.
 */
enum { SNAPSHOT_NAME = 160 };
const char *snapshot_name(const char *kernel, time_t when, const char *ending,
	char name[SNAPSHOT_NAME]);

#endif
