/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "view_stage.h"

struct stage stage_raise(const struct view *kind, const struct config *config, int rows, int columns, bool unicode)
{
	struct stage stage = { .kind = kind, .view = kind->new(config), .canvas = canvas_new(rows, columns, unicode),
		.answers = hand_answers(hand_names, hand_functions) };

	scope_init(&stage.scope);
	return stage;
}

void stage_strike(struct stage *stage)
{
	stage->kind->free(stage->view);
	answers_free(stage->answers);
	canvas_free(stage->canvas);
}

void stage_draw(struct stage *stage)
{
	canvas_clear(stage->canvas);
	stage->kind->show(stage->view, stage->answers->vitals, stage->shown, &stage->scope);
	stage->kind->draw(stage->view, stage->canvas,
		(struct area) { 0, 0, stage->canvas->rows, stage->canvas->columns });
}

void stage_resize(struct stage *stage, int rows, int columns, bool unicode)
{
	canvas_free(stage->canvas);
	stage->canvas = canvas_new(rows, columns, unicode);
	stage_draw(stage);
}

char *stage_text(struct stage *stage)
{
	stage_draw(stage);
	return canvas_dump(stage->canvas);
}

void stage_holds(struct stage *stage, const char *wanted, bool there)
{
	char *text = stage_text(stage);

	if (!strstr(text, wanted) == there)
		fail_msg("\"%s\" is %s in\n%s", wanted, there ? "not" : "there", text);
	free(text);
}

void stage_draw_safely(struct stage *stage, int rows, int columns, bool unicode)
{
	size_t count = (size_t)(rows + 2) * (size_t)columns;
	struct cell *cells = util_alloc((count + 1) * sizeof(*cells));
	struct canvas canvas = { .rows = rows, .columns = columns, .unicode = unicode, .cells = cells + columns };

	for (int i = 0; i < columns; i++)
		cells[i].code = cells[count - 1 - (size_t)i].code = 0xabcd;
	canvas_clear(&canvas);
	stage->kind->show(stage->view, stage->answers->vitals, stage->shown, &stage->scope);
	stage->kind->draw(stage->view, &canvas, (struct area) { 0, 0, rows, columns });
	for (int i = 0; i < columns; i++)
		assert_true(cells[i].code == 0xabcd && cells[count - 1 - (size_t)i].code == 0xabcd);
	if (rows && columns && safe_canvas(&canvas))
		fail_msg("%dx%d is not harmless: %s", columns, rows, safe_canvas(&canvas));
	free(cells);
}
