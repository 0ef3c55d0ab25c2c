/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fakes/canvas_dump.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "stage.h"

void stage_resize(struct stage *stage, int rows, int columns, bool unicode)
{
	canvas_free(stage->canvas);
	stage->canvas = canvas_new(rows, columns, unicode);
	stage->canvas->halves = unicode && stage->halves;
	screen_draw(stage->screen, stage->canvas);
}

void stage_show(struct stage *stage, struct answers *answers)
{
	answers_free(stage->session.next);
	stage->session.next = answers;
	screen_step(stage->screen, stage->now);
	screen_draw(stage->screen, stage->canvas);
}

void stage_raise(struct stage *stage, struct answers *first)
{
	*stage = (struct stage) { .now = 1 };
	config_init(&stage->config);
	stage->screen = screen_new(fake_feed(&stage->session), &stage->config);
	stage_resize(stage, 24, 80, true);
	stage_show(stage, first);
}

void stage_strike(struct stage *stage)
{
	screen_free(stage->screen);
	fake_end(&stage->session);
	canvas_free(stage->canvas);
}

enum screen_act stage_press(struct stage *stage, uint32_t code)
{
	struct input input = { .kind = INPUT_KEY, .code = code };
	enum screen_act act = screen_input(stage->screen, &input, stage->now);

	screen_step(stage->screen, stage->now);
	screen_draw(stage->screen, stage->canvas);
	return act;
}

void stage_type(struct stage *stage, const char *text)
{
	for (; *text != '\0'; text++)
		stage_press(stage, *text == '\b' ? KEYS_F(8) : (unsigned char)*text);
}

void stage_holds(struct stage *stage, const char *wanted, bool there)
{
	char *text;

	screen_draw(stage->screen, stage->canvas);
	text = canvas_dump(stage->canvas);
	if (!strstr(text, wanted) == there)
		fail_msg("\"%s\" is %s in\n%s", wanted, there ? "not" : "there", text);
	free(text);
}

void stage_click(struct stage *stage, const char *label)
{
	char *text = canvas_dump(stage->canvas), *bar = text + strlen(text) - 1;
	struct input input = { .kind = INPUT_CLICK, .row = stage->canvas->rows - 1 };

	while (bar > text && bar[-1] != '\n')
		bar--;
	assert_non_null(strstr(bar, label));
	input.column = (int)(strstr(bar, label) - bar);
	screen_input(stage->screen, &input, stage->now);
	free(text);
}
