/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "config.h"
#include "views.h"

/* An entry is a name with its text behind it, at column NAMES. With fewer columns than BELOW_FROM the text is below. */
enum { NAMES = 16, BELOW_FROM = 36 };

struct help {
	const struct keys *keys;
	int top, height, lines;		/* first line and lines that are shown; all lines, when drawn last */
};

struct note {
	const char *name, *text;
};

static const struct note notes[] = {
	{ "SELF%", "share of the time in the function itself" },
	{ "TOTAL%", "in it or in what it calls; recursion counts once" },
	{ "HITS/s", "samples in the function itself, a second" },
	{ "~12.34", "uncertain: this share rests on fewer than 30 samples" },
	{ "CHANGE", "SELF% or TOTAL%, less what it was in the baseline; red: more, blue: less; new, gone: only "
		"now, only then; ~: with so few samples it may be chance, of which 1 row of 100 has more" },
	{ "TREND", "SELF% of the last 60 s, each row scaled to its own highest column; a click on "
		"its head sorts by SELF%" },
	{ "p50 p99 MAX", "half of the durations, and 99 of 100, are no longer than this; the longest. TOTAL% of Events "
		"is the sum of the durations: 100 % is the length of the window" },
	{ "arrow", "down: numbers from the largest, names from A; up: the reverse" },
	{ "k u i", "share of the window in kernel, user, idle" },
	{ "60s", "the last 60 s of kernel and user, in the colour of the larger" },
	{ "each, by 3", "kernel and user of each CPU; of each 3 CPUs, the busiest" },
	{ "REC 997/472 Hz", "profiling; samples per second on each CPU: asked for, and achieved (-: not known). A "
		"sample that comes late counts for each tick since the last one, 8 at most: so "
		"shares stay right when fewer come than asked for." },
	{ "CPUs not run", "share of the time in which the host did not run the guest's CPUs, or the VM "
		"was paused: it is counted for no function" },
	{ "lost 12+3", "samples that were taken and did not arrive, since ktop listens: lost in "
		"the guest, whose rings were full; and on the way here" },
	{ "lost earlier", "samples that the guest lost before ktop listened" },
	{ "ring", "how full the guest's fullest ring is" },
	{ "cost", "the hook's own time: for each sample, and its share of the guest's time" },
	{ "timer", "sampled by each CPU's own tick, which does not see code that runs with "
		"interrupts off: its time is counted where they are enabled again. `ktop ctl sampler "
		"nmi` sees it, and may set one CPU aside." },
	{ "FROZEN", "the screen stands still; collection goes on" },
};

static const struct note tab_notes[] = {
	{ "All", "all machines as one: shares are of the time of all their CPUs; functions of one "
		"name and object are one row; a line above for each machine" },
	{ "VM", "the machines that ran it, by the numbers of their tabs" },
};
enum { NOTES = sizeof(notes) / sizeof(*notes), TAB_NOTES = sizeof(tab_notes) / sizeof(*tab_notes) };

static void *help_new(const struct config *config)
{
	struct help *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	return self;
}

/* Draws the part of the text that is in the area. Returns the row behind the text. */
static int draw_text(struct canvas *canvas, struct area area, int row, uint8_t style,
	const char *text)
{
	int rows = canvas_rows(canvas, text, area.columns);

	for (int i = 0; i < rows; i++, text = canvas_next_row(canvas, text, area.columns)) {
		int size = (int)(canvas_next_row(canvas, text, area.columns) - text);
		struct place place = { row + i, area.column, area.columns };

		if (size > 0 && text[size - 1] == ' ')
			size--;
		if (row + i >= area.row && row + i < area.row + area.rows)
			canvas_format(canvas, place, style, "%.*s", size, text);
	}
	return row + rows;
}

/* Draws an entry, and returns the row behind it. */
static int draw_entry(struct canvas *canvas, struct area area, int row, const char *name,
	const char *text)
{
	bool below = area.columns < BELOW_FROM;
	int next = draw_text(canvas, area, row, STYLE_KEY, name), indent = below ? 2 : NAMES;

	area.column += indent;
	area.columns -= indent;
	return draw_text(canvas, area, below ? next : row, STYLE_TEXT, text);
}

static int draw_key(struct canvas *canvas, struct area area, int row, const struct key *key)
{
	char names[KEYS_PER_ROW * KEYS_NAME] = "", name[KEYS_NAME];
	size_t used = 0;

	for (int i = 0; i < KEYS_PER_ROW && key->codes[i]; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? " " : "",
			keys_name(key->codes[i], name));
	return draw_entry(canvas, area, row, names, key->help);
}

/* Lays out the whole text from this row on, and draws the part that is in the area. Returns the row behind it. */
static int draw_all(const struct keys *keys, struct canvas *canvas, struct area area, int row)
{
	row = draw_text(canvas, area, row, STYLE_TITLE, "Keys, the same in every view");
	for (int i = 0; i < KEYS_ROWS; i++)
		if (keys_shown(keys, &keys->rows[i]))
			row = draw_key(canvas, area, row, &keys->rows[i]);
	row = draw_text(canvas, area, row + 1, STYLE_TITLE, "How to read it");
	for (size_t i = 0; i < NOTES; i++)
		row = draw_entry(canvas, area, row, notes[i].name, notes[i].text);
	for (size_t i = 0; i < TAB_NOTES && keys->tabs; i++)
		row = draw_entry(canvas, area, row, tab_notes[i].name, tab_notes[i].text);
	return row;
}

/* If there is more text than rows, the last row says so. */
static void help_draw(void *context, struct canvas *canvas, struct area area)
{
	struct help *self = context;
	struct area inner = { area.row, area.column + 2, area.rows, area.columns - 3 };
	char more[KEYS_TEXT];

	self->lines = draw_all(self->keys, canvas, (struct area) { 0, 0, 0, inner.columns }, 0);
	if (self->lines > area.rows && area.rows > 1)
		inner.rows--;
	self->height = inner.rows;
	if (self->top > self->lines - inner.rows)
		self->top = self->lines - inner.rows;
	if (self->top < 0)
		self->top = 0;
	draw_all(self->keys, canvas, inner, area.row - self->top);
	if (inner.rows < area.rows)
		canvas_text(canvas, (struct place) { area.row + inner.rows, inner.column,
			inner.columns }, STYLE_WARN, keys_text(self->keys, self->top + inner.rows < self->lines ?
			"more: {down}" : "more: {up}", more));
}

static bool help_act(void *context, enum action action)
{
	struct help *self = context;
	int page = self->height > 1 ? self->height - 1 : 1;

	switch (action) {
	case ACTION_UP:
		self->top -= 1;
		return true;
	case ACTION_DOWN:
		self->top += 1;
		return true;
	case ACTION_PAGE_UP:
		self->top -= page;
		return true;
	case ACTION_PAGE_DOWN:
		self->top += page;
		return true;
	case ACTION_TOP:
		self->top = 0;
		return true;
	case ACTION_BOTTOM:
		self->top = self->lines;
		return true;
	default:
		return false;
	}
}

const struct view view_help = {
	.name = "Help",
	.new = help_new,
	.free = free,
	.draw = help_draw,
	.act = help_act,
};
