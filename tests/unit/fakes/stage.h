/* SPDX-License-Identifier: MIT */
/* A screen on a stage: before a session that remembers what it was asked, on a canvas to look at. */
#ifndef STAGE_H
#define STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/screen/screen.h"
#include "tui/views/config.h"
#include "fake_session.h"

struct canvas;
struct picture;

struct stage {
	struct session session;
	struct config config;
	struct screen *screen;
	struct canvas *canvas;
	uint64_t now;
};

void stage_raise(struct stage *stage, struct picture *first);	/* 80x24; NULL: none yet */
void stage_strike(struct stage *stage);
void stage_resize(struct stage *stage, int rows, int columns, bool unicode);
void stage_show(struct stage *stage, struct picture *picture);	/* takes it, and draws */

enum screen_act stage_press(struct stage *stage, uint32_t code);
void stage_type(struct stage *stage, const char *text);
void stage_click(struct stage *stage, const char *label);	/* on the key bar */

void stage_holds(struct stage *stage, const char *wanted, bool there);

#endif
