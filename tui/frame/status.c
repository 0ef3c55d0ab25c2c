/* SPDX-License-Identifier: MIT */

#include "agent/base/util.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "status.h"

static const uint64_t shown_ns = 3 * NS_PER_SECOND;
enum { ROWS_MOST = 3 };

bool status_say(struct status_line *line, bool failed, const char *text, uint64_t now)
{
	if (line->failed && !failed)
		return false;
	util_print(line->text, sizeof(line->text), "%s", text);
	line->failed = failed;
	line->profiler = line->view = false;
	line->until = now + shown_ns;
	return true;
}

void status_explain(struct status_line *line, const char *text, uint64_t now)
{
	line->view = status_say(line, false, text, now) || line->view;
}

void status_view_left(struct status_line *line)
{
	if (line->view)
		*line = (struct status_line) { .failed = false };
}

void status_seen(struct status_line *line)
{
	if (line->failed)
		*line = (struct status_line) { .failed = false };
}

void status_profiler(struct status_line *line)
{
	if (line->profiler && line->failed)
		*line = (struct status_line) { .failed = false };
}

bool status_expire(struct status_line *line, uint64_t now)
{
	if (line->text[0] == '\0' || line->failed || now < line->until)
		return false;
	line->text[0] = '\0';
	return true;
}

void status_draw(const struct status_line *line, struct canvas *canvas, struct place place,
	const char *remark)
{
	struct area area = { place.row, place.column + 1, 1, place.width - 2 };
	int needed = canvas_rows(canvas, line->text, area.columns);

	if (line->text[0] == '\0') {
		if (*remark)
			canvas_blank(canvas, place);
		canvas_text(canvas, (struct place) { area.row, area.column, area.columns },
			STYLE_DIM, remark);
		return;
	}
	area.rows = needed < ROWS_MOST ? needed : ROWS_MOST;
	area.row -= area.rows - 1;
	for (place.row = area.row; place.row < area.row + area.rows; place.row++)
		canvas_blank(canvas, place);
	canvas_wrap(canvas, area, line->failed ? STYLE_BAD : STYLE_GOOD, line->text);
}

void status_ask(struct canvas *canvas, struct place place, const char *question)
{
	canvas_blank(canvas, place);
	place.column++;
	place.width--;
	canvas_text(canvas, place, STYLE_WARN, question);
}
