#include <stdio.h>
#include <stdlib.h>

#include "canvas.h"
#include "config.h"
#include "keys.h"
#include "theme.h"
#include "util.h"
#include "view.h"
#include "view_help.h"

enum { NAMES = 20 };

struct help {
	const struct keys *keys;
	int top, height;
};

static const char *const notes[] = {
	"",
	"How to read it",
	"SELF%           share of the time in the function itself",
	"TOTAL%          in it or in what it calls; recursion counts once",
	"HITS/s          samples in the function itself, a second",
	"~12.34          a guess: fewer than 30 samples stand behind this share",
	"TREND           SELF% of the last 60 s, each row against its own largest",
	"                column; a click on its head sorts by SELF%",
	"arrow           down: numbers from the largest, names from A; up: turned round",
	"k u i           share of the window in kernel, user, idle",
	"60s             the last 60 s of kernel and user, in the colour of the larger",
	"REC 997/472 Hz  profiling; samples a second and CPU: asked for, achieved. A",
	"                late tick's sample counts for all since the one before, up to",
	"                8: so shares stay right when fewer come than asked for.",
	"missed          ticks later than that, charged to no function: the guest got",
	"                no time from the host, or was paused. A share of all time.",
	"lost 12+3       samples that were taken and never came, since ktop listens,",
	"                exact: in the guest, its rings were full; and on the way here",
	"before          samples that the guest lost before, while nobody listened",
	"ring            how full the guest's fullest ring is",
	"cost            the hook's own time: for a sample, and of the guest's time",
	"timer           sampled by each CPU's own tick: code with interrupts off is",
	"                charged where they come on. nmi sees it, and takes one CPU.",
	"FROZEN          the picture is held; collection goes on",
};
enum { NOTES = sizeof notes / sizeof *notes };

static void *help_new(const struct config *config)
{
	struct help *self = util_alloc(sizeof *self);

	self->keys = &config->keys;
	return self;
}

static int line_count(void)
{
	return KEYS_ROWS + NOTES + 1;
}

static void draw_key(struct canvas *canvas, struct place place, const struct key *key)
{
	char name[KEYS_NAME];
	int column = place.column;

	for (int i = 0; i < KEYS_PER_ROW && key->codes[i]; i++)
		column += 1 +
			canvas_text(canvas, (struct place) { place.row, column, NAMES }, STYLE_KEY,
				keys_name(key->codes[i], name));
	canvas_text(canvas, (struct place) { place.row, place.column + NAMES, place.width - NAMES },
		STYLE_TEXT, key->help);
}

static void draw_line(const struct help *self, struct canvas *canvas, struct place place, int line)
{
	if (line == 0)
		canvas_text(canvas, place, STYLE_TITLE, "Help: the keys, the same in every view");
	else if (line <= KEYS_ROWS)
		draw_key(canvas, place, &self->keys->rows[line - 1]);
	else
		canvas_text(canvas, place, line == KEYS_ROWS + 2 ? STYLE_TITLE : STYLE_TEXT,
			notes[line - 1 - KEYS_ROWS]);
}

static void help_draw(void *context, struct canvas *canvas, struct area area)
{
	struct help *self = context;
	int last = line_count() - area.rows;

	self->height = area.rows;
	if (self->top > last)
		self->top = last;
	if (self->top < 0)
		self->top = 0;
	for (int i = 0; i < area.rows && self->top + i < line_count(); i++)
		draw_line(self, canvas, (struct place) {
			area.row + i, area.column + 2, area.columns - 2 }, self->top + i);
	if (self->top < last)
		canvas_right(canvas, (struct place) { area.row + area.rows - 1, area.column,
			area.columns }, STYLE_WARN, " more: j");
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
		self->top = line_count();
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
