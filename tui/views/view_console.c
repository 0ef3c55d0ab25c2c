/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/vm/console/console.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "config.h"
#include "views.h"

enum { LEAST_COLUMNS = 2 };		/* a wide character has so many */

struct spot {				/* a row of the text: a long line has several */
	uint64_t line;
	int row;
};

struct console_view {
	const struct keys *keys;
	struct console *console;
	const struct scope *scope;	/* NULL: not known yet */
	struct canvas like;		/* as wide, and of the same characters, as was drawn on last; it has no cells */
	int height;			/* rows of text that were drawn last */
	uint64_t drawn;			/* the console's bytes at that time */
	bool scrolled, types;		/* if not scrolled, the last row is the newest */
	struct spot top;		/* of a text that is scrolled */
	bool found;			/* a search has found `match` */
	uint64_t match;
};

static void *console_new_view(const struct config *config)
{
	struct console_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->like.columns = LEAST_COLUMNS;
	return self;
}

void view_console_begin(void *context, struct console *console)
{
	((struct console_view *)context)->console = console;
}

bool view_console_changed(void *context)
{
	struct console_view *self = context;

	return self->console && console_extent(self->console).bytes != self->drawn;
}

static void console_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	(void)vitals;
	(void)answer;
	((struct console_view *)context)->scope = scope;
}

/* ---- rows ---- */

/* Writes the row of the line, and returns how many rows the line has. */
static int row_of(const struct console_view *self, struct spot spot, char text[CONSOLE_LINE])
{
	char line[CONSOLE_LINE];
	const char *at = line, *next;
	int rows = 0;

	console_line(self->console, spot.line, line);
	text[0] = '\0';
	do {
		next = canvas_skip(&self->like, at, self->like.columns);
		if (rows++ == spot.row)
			util_print(text, CONSOLE_LINE, "%.*s", (int)(next - at), at);
		at = next;
	} while (*at);
	return rows;
}

static int line_rows(const struct console_view *self, uint64_t line)
{
	char text[CONSOLE_LINE];

	return row_of(self, (struct spot) { line, 0 }, text);
}

/* So many rows further down, or up, within the text. */
static struct spot moved(const struct console_view *self, struct spot spot, int rows)
{
	struct console_extent extent = console_extent(self->console);

	if (spot.line < extent.first)
		spot = (struct spot) { extent.first, 0 };
	for (; rows > 0; rows--) {
		if (spot.row + 1 < line_rows(self, spot.line))
			spot.row++;
		else if (spot.line + 1 < extent.end)
			spot = (struct spot) { spot.line + 1, 0 };
	}
	for (; rows < 0; rows++) {
		if (spot.row > 0)
			spot.row--;
		else if (spot.line > extent.first)
			spot = (struct spot) { spot.line - 1, line_rows(self, spot.line - 1) - 1 };
	}
	return spot;
}

/* The top of a text whose last row is the newest. */
static struct spot newest(const struct console_view *self)
{
	struct console_extent extent = console_extent(self->console);
	struct spot last = { extent.end - (extent.end > extent.first), 0 };

	last.row = line_rows(self, last.line) - 1;
	return moved(self, last, 1 - self->height);
}

static bool is_before(struct spot one, struct spot other)
{
	return one.line < other.line || (one.line == other.line && one.row < other.row);
}

static void go_to(struct console_view *self, struct spot top)
{
	self->scrolled = is_before(top, newest(self));
	self->top = top;
}

/* ---- drawing ---- */

static void draw_rows(struct console_view *self, struct canvas *canvas, struct area area)
{
	struct console_extent extent = console_extent(self->console);
	struct spot spot = self->scrolled ? moved(self, self->top, 0) : newest(self);
	const char *match = self->scope ? self->scope->match : "";
	char text[CONSOLE_LINE], line[CONSOLE_LINE];

	for (int i = 0; i < area.rows && spot.line < extent.end; i++) {
		struct place place = { area.row + i, area.column, area.columns };
		int rows = row_of(self, spot, text), cursor = extent.column - spot.row * area.columns;

		console_line(self->console, spot.line, line);
		canvas_text(canvas, place, list_match(line, match) ? STYLE_MATCH : STYLE_TEXT, text);
		if (self->found && *match && spot.line == self->match)
			canvas_restyle(canvas, place, STYLE_CURSOR);
		if (self->types && spot.line + 1 == extent.end && cursor >= 0 && cursor < area.columns)
			canvas_restyle(canvas, (struct place) { place.row, place.column + cursor, 1 }, STYLE_CURSOR);
		spot = spot.row + 1 < rows ? (struct spot) { spot.line, spot.row + 1 } :
			(struct spot) { spot.line + 1, 0 };
	}
}

/* What can be done here, and what of the text is not on the screen. */
static void draw_detail(const struct console_view *self, struct canvas *canvas, struct place place)
{
	struct console_extent extent = console_extent(self->console);
	char hint[KEYS_TEXT], lost[64] = "", *text;

	place.column++;
	place.width--;
	if (extent.first)
		snprintf(lost, sizeof(lost), "; the first %" PRIu64 " are no longer kept", extent.first);
	keys_text(self->keys, self->types ? "typing to the guest" :
		extent.no_port ? "no serial port is here to type to: give QEMU -serial mon:stdio" :
		!extent.open ? "QEMU has closed it" :
		self->scrolled ? "{open} types to the guest, {bottom} shows what comes" :
		"{open} types to the guest, {back} leaves", hint);
	text = util_format("%" PRIu64 " line%s%s  %s", extent.end, util_plural(extent.end), lost, hint);
	canvas_text(canvas, place, self->types ? STYLE_WARN : STYLE_TITLE, text);
	free(text);
}

static void console_draw(void *context, struct canvas *canvas, struct area area)
{
	struct console_view *self = context;
	struct console_extent extent;

	self->height = 0;
	if (!self->console || area.rows < 1)
		return;
	extent = console_extent(self->console);
	self->drawn = extent.bytes;
	self->types = self->types && extent.open;
	self->like.unicode = canvas->unicode;
	self->like.columns = area.columns < LEAST_COLUMNS ? LEAST_COLUMNS : area.columns;
	self->height = area.rows > 1 ? area.rows - 1 : 1;
	if (extent.end == extent.first)
		canvas_wrap(canvas, area, STYLE_TEXT, "Nothing was printed yet. Here comes what QEMU prints; and what "
			"the guest prints on its serial port, if QEMU has that here: by -nographic, -serial stdio, "
			"-serial mon:stdio or -serial pty.");
	else
		draw_rows(self, canvas, (struct area) { area.row, area.column, self->height, area.columns });
	if (area.rows > 1)
		draw_detail(self, canvas, (struct place) { area.row + area.rows - 1, area.column, area.columns });
}

/* ---- what the user does ---- */

static bool console_act(void *context, enum action action)
{
	struct console_view *self = context;
	struct spot top = self->scrolled || !self->console ? self->top : newest(self);
	int page = self->height > 1 ? self->height - 1 : 1;

	if (!self->console)
		return false;
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		go_to(self, moved(self, top, action == ACTION_UP ? -1 : 1));
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		go_to(self, moved(self, top, action == ACTION_PAGE_UP ? -page : page));
		return true;
	case ACTION_TOP:
		go_to(self, (struct spot) { console_extent(self->console).first, 0 });
		return true;
	case ACTION_BOTTOM:
		self->scrolled = false;
		return true;
	case ACTION_OPEN:
		self->types = console_extent(self->console).open;
		self->scrolled = self->scrolled && !self->types;
		return self->types;
	default:
		return false;
	}
}

static bool console_search(void *context, const char *pattern, enum list_search where)
{
	struct console_view *self = context;
	struct console_extent extent = console_extent(self->console);
	uint64_t count = extent.end - extent.first, at;
	struct spot top = self->scrolled ? moved(self, self->top, 0) : newest(self);
	char line[CONSOLE_LINE];

	at = self->found && self->match >= extent.first && self->match < extent.end ? self->match : top.line;
	for (uint64_t i = where == LIST_HERE ? 0 : 1; i <= count && count; i++) {
		uint64_t steps = where == LIST_PREVIOUS ? count - i : i;
		uint64_t number = extent.first + (at - extent.first + steps) % count;

		if (!console_line(self->console, number, line) || !list_match(line, pattern))
			continue;
		self->found = true;
		self->match = number;
		if (is_before((struct spot) { number, 0 }, top) || !is_before((struct spot) { number, 0 },
				moved(self, top, self->height)))
			go_to(self, moved(self, (struct spot) { number, 0 }, -self->height / 2));
		return true;
	}
	self->found = false;
	return false;
}

bool view_console_types(const void *context)
{
	const struct console_view *self = context;

	return self->types && console_extent(self->console).open;
}

void view_console_look(void *context)
{
	((struct console_view *)context)->types = false;
}

/* What a terminal sends for a key. */
static size_t bytes_of(uint32_t code, char bytes[8])
{
	static const struct { uint32_t code; const char *bytes; } keys[] = {
		{ KEYS_UP, "\033[A" }, { KEYS_DOWN, "\033[B" }, { KEYS_RIGHT, "\033[C" }, { KEYS_LEFT, "\033[D" },
		{ KEYS_HOME, "\033[H" }, { KEYS_END, "\033[F" }, { KEYS_BACK_TAB, "\033[Z" },
		{ KEYS_PAGE_UP, "\033[5~" }, { KEYS_PAGE_DOWN, "\033[6~" },
		{ KEYS_F(1), "\033OP" }, { KEYS_F(2), "\033OQ" }, { KEYS_F(3), "\033OR" }, { KEYS_F(4), "\033OS" },
		{ KEYS_F(5), "\033[15~" }, { KEYS_F(6), "\033[17~" }, { KEYS_F(7), "\033[18~" },
		{ KEYS_F(8), "\033[19~" }, { KEYS_F(9), "\033[20~" }, { KEYS_F(10), "\033[21~" },
		{ KEYS_F(11), "\033[23~" }, { KEYS_F(12), "\033[24~" },
	};
	struct cell cell = { .code = code };

	bytes[0] = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].code == code)
			strcpy(bytes, keys[i].bytes);
	if (code && code < KEYS_UP)
		canvas_utf8(&cell, bytes);
	return strlen(bytes);
}

bool view_console_type(void *context, uint32_t code)
{
	struct console_view *self = context;
	char bytes[8];

	self->scrolled = false;
	return console_type(self->console, bytes, bytes_of(code, bytes));
}

const struct view view_console = {
	.name = "Console",
	.new = console_new_view,
	.free = free,
	.show = console_show,
	.draw = console_draw,
	.act = console_act,
	.search = console_search,
};
