/* SPDX-License-Identifier: MIT */
/*
 * Scenes that are played again and again, each time with another allocation refused: RUNS times, or with `all` for each
 * allocation. What came while memory was short is there, or is counted as lost. What comes later is as if nothing had
 * happened.
 */
#ifndef SCENES_H
#define SCENES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/unit/fakes/session_fixture.h"

struct fake_guest;
struct session;

struct scene {
	const char *name;
	void (*body)(void *context);	/* calls scarce_end() where memory is back */
};

/*
 * A program's main. Writes TAP. With two arguments, SCENE and N, it refuses allocation N of that scene alone; scenes
 * count from 1.
 */
int scenes_main(const struct scene *scenes, size_t size, int count, char **arguments);

/* Addresses: of functions in fixture_names, and of one that the guest tells, "told_by_the_guest". */
enum { TOLD = 0x800, HOT = 0x1210, COLD = 0x1310, CALLER = 0x1120 };

const char *scene_names(void);		/* the file with the kernel's names */

/* A session with these names. The second one refuses nothing before the body allows it with scarce_pause. */
struct fixture scene_begin(void);
struct fixture scene_begin_unhindered(void);

/* The guest tells all of itself: also a function, and the name of thread 7, "worker". */
void scene_tell(struct fake_guest *guest);

/* Steps until the guest is up, and somewhat longer. If the user's file cannot be read, it ends as ktop does. */
void scene_live(struct fixture *fixture);
void scene_end_if_failed(const struct session *session);

uint64_t scene_self(const struct answers *answers, const char *name);	/* the self weight of a function */
void scene_check_weight(const struct answers *answers, uint64_t sent);	/* what is not in the table is counted */

#endif
