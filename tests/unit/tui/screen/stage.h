/* SPDX-License-Identifier: MIT */
/* A screen for tests: in front of a session that remembers what it was asked (fake_session.h), on a canvas. */
#ifndef STAGE_H
#define STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/tui/fake_session.h"
#include "tui/screen/screen.h"
#include "tui/views/config.h"

struct canvas;
struct answers;

struct stage {
	struct session session;
	struct config config;
	struct screen *screen;
	struct canvas *canvas;
	uint64_t now;
	bool halves;			/* canvases in UTF-8 have halves, from the next stage_resize on */
};

void stage_raise(struct stage *stage, struct answers *first);	/* 80x24; NULL: no answers yet */
void stage_strike(struct stage *stage);
void stage_resize(struct stage *stage, int rows, int columns, bool unicode);
void stage_show(struct stage *stage, struct answers *answers);	/* owns the answers from now on, and draws */

enum screen_act stage_press(struct stage *stage, uint32_t code);
void stage_type(struct stage *stage, const char *text);	/* '\b' is F8 */
void stage_click(struct stage *stage, const char *label);	/* clicks this label on the key bar */

void stage_holds(struct stage *stage, const char *wanted, bool there);

#endif
