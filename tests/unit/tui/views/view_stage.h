/* SPDX-License-Identifier: MIT */
/* A view alone, with answers made by hand (hand_answers.h) and a canvas. */
#ifndef VIEW_STAGE_H
#define VIEW_STAGE_H

#include <stdbool.h>

#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"

struct stage {
	const struct view *kind;
	void *view;
	struct canvas *canvas;
	struct answers *answers;
	struct answer *shown;		/* of them; NULL: none yet */
	struct scope scope;
};

/* The caller fills in `shown`. The settings must outlive the stage. */
struct stage stage_raise(const struct view *kind, const struct config *config, int rows, int columns, bool unicode);
void stage_strike(struct stage *stage);
void stage_draw(struct stage *stage);
void stage_resize(struct stage *stage, int rows, int columns, bool unicode);	/* and draws it */
char *stage_text(struct stage *stage);	/* draws it; the caller frees it */
/* Draws at this size, between cells that must stay as they are; what is drawn is harmless. */
void stage_draw_safely(struct stage *stage, int rows, int columns, bool unicode);
void stage_holds(struct stage *stage, const char *wanted, bool there);

#endif
