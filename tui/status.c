#include <stdio.h>

#include "canvas.h"
#include "status.h"
#include "theme.h"

static const uint64_t shown_ns = 3000000000u;
enum { ROWS_MOST = 3 };

void status_say(struct status_line *line, bool failed, const char *text, uint64_t now)
{
	if (line->failed && !failed)
		return;
	snprintf(line->text, sizeof line->text, "%s", text);
	line->failed = failed;
	line->until = now + shown_ns;
}

void status_seen(struct status_line *line)
{
	if (line->failed)
		*line = (struct status_line) { .failed = false };
}

bool status_expire(struct status_line *line, uint64_t now)
{
	if (line->text[0] == '\0' || line->failed || now < line->until)
		return false;
	line->text[0] = '\0';
	return true;
}

static void clear_row(struct canvas *canvas, struct place place)
{
	for (int i = 0; i < place.width; i++)
		canvas_put(canvas, (struct place) { place.row, place.column + i, 1 }, STYLE_TEXT,
			' ');
}

void status_draw(const struct status_line *line, struct canvas *canvas, struct place place,
	const char *remark)
{
	struct place inner = { place.row, place.column + 1, place.width - 2 };
	uint8_t style = line->failed ? STYLE_BAD : STYLE_GOOD;
	const char *text = line->text;
	int rows = 1;

	if (*text == '\0') {
		canvas_text(canvas, inner, STYLE_DIM, remark);
		return;
	}
	while (rows < ROWS_MOST && canvas_width(canvas, text) > rows * inner.width)
		rows++;
	for (inner.row -= rows - 1; inner.row < place.row; inner.row++) {
		const char *rest = canvas_skip(canvas, text, inner.width);

		clear_row(canvas, (struct place) { inner.row, place.column, place.width });
		canvas_format(canvas, inner, style, "%.*s", (int)(rest - text), text);
		text = rest;
	}
	canvas_text(canvas, inner, style, text);
}
