/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/heat_map.h"
#include "agent/base/util.h"
#include "agent/query/table.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/tree/tree_lines.h"
#include "config.h"
#include "views.h"

enum {
	PAUSE_MS = 500,
	LEFT = 9,			/* columns before the first second */
	PAGE = 10,			/* seconds */
	SECONDS_MOST = HEAT_SLOTS / HEAT_SECOND,
};

/* Slots are named by their numbers; a cell is named by its first slot. */
struct heat_view {
	const struct keys *keys;
	const struct vitals *vitals;
	const struct heat_map *answer;	/* NULL: none yet */
	const struct scope *scope;
	struct heat_request request;
	struct view_chosen chosen;	/* the function that goes along; the map is about it if it was put */
	bool placed;			/* the cursor was put on `cursor`; if not, it is on the newest cell */
	uint64_t cursor;
	bool begun, pressed;		/* `begin` is the other end of a range; or where the mouse was pressed */
	uint64_t begin;
	bool ranges;			/* the range was chosen */
	struct area grid;		/* the cells, as drawn last: `columns` seconds; rows 0: none */
	uint64_t first;			/* the second of its first column */
	uint64_t each;			/* slots in a cell */
};

struct range {				/* slots: from <= slot < to */
	uint64_t from, to;
};

static uint64_t of(const struct heat_view *self)
{
	return self->chosen.put ? self->chosen.name : 0;
}

static uint64_t last_slot(const struct heat_view *self)
{
	return self->answer->heat.first + self->answer->heat.count - 1;
}

static bool has_grid(const struct heat_view *self)
{
	return self->answer && self->answer->heat.count && self->grid.rows > 0;
}

/* The cell under the cursor, which stays among those that are shown. */
static uint64_t cursor_of(const struct heat_view *self)
{
	uint64_t first = self->first * HEAT_SECOND, last = last_slot(self);
	uint64_t slot = !self->placed || self->cursor > last ? last : self->cursor < first ? first : self->cursor;

	return slot - slot % self->each;
}

static struct range range_of(const struct heat_view *self)
{
	uint64_t cursor = cursor_of(self), begin = self->begun ? self->begin - self->begin % self->each : cursor;

	return (struct range) { begin < cursor ? begin : cursor, (begin < cursor ? cursor : begin) + self->each };
}

static void *heat_new(const struct config *config)
{
	struct heat_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->each = 1;
	return self;
}

static void heat_free(void *context)
{
	free(context);
}

static void heat_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct heat_view *self = context;
	const struct heat_map *map = (const struct heat_map *)answer;

	if (map && self->answer && map->answer.boot != self->answer->answer.boot)
		self->placed = self->begun = self->pressed = self->ranges = false;	/* times of another boot */
	self->vitals = vitals;
	self->scope = scope;
	self->answer = map;
}

/* ---- drawing ---- */

/* As many rows as there is room for, such that a second has whole ones. */
static void lay_out(struct heat_view *self, struct area area)
{
	static const int rows[] = { 50, 25, 10, 5, 2, 1 };
	uint64_t last = last_slot(self) / HEAT_SECOND;
	int seconds = area.columns - LEFT - 1 < SECONDS_MOST ? area.columns - LEFT - 1 : SECONDS_MOST;
	size_t i = 0;

	self->grid = (struct area) { .rows = 0 };
	if (area.rows < 1 || seconds < 1)
		return;
	while (rows[i] > area.rows)
		i++;
	if (last + 1 < (uint64_t)seconds)
		seconds = (int)last + 1;
	self->each = (uint64_t)(HEAT_SECOND / rows[i]);
	self->first = last + 1 - (uint64_t)seconds;
	self->grid = (struct area) { area.row, area.column + LEFT, rows[i], seconds };
}

static struct heat_slot sum_of(const struct heat_map *map, struct range range)
{
	uint64_t end = map->heat.first + map->heat.count;
	struct heat_slot sum = { .whole = 0 };

	for (uint64_t i = range.from < map->heat.first ? map->heat.first : range.from; i < range.to && i < end; i++) {
		sum.whole += map->heat.slots[i - map->heat.first].whole;
		sum.part += map->heat.slots[i - map->heat.first].part;
	}
	return sum;
}

static struct range cell_of(const struct heat_view *self, int row, int column)
{
	uint64_t from = (self->first + (uint64_t)column) * HEAT_SECOND + (uint64_t)row * self->each;

	return (struct range) { from, from + self->each };
}

static double share_of(struct heat_slot sum)
{
	return sum.whole ? (double)sum.part / (double)sum.whole : 0;
}

/* The percentage that is the brightest: of a few, so that it seldom changes. */
static int scale_of(const struct heat_view *self)
{
	static const int scales[] = { 1, 2, 5, 10, 25, 50, 100 };
	double most = 0;
	size_t i = 0;

	for (int row = 0; row < self->grid.rows; row++)
		for (int column = 0; column < self->grid.columns; column++) {
			double share = share_of(sum_of(self->answer, cell_of(self, row, column)));

			most = share > most ? share : most;
		}
	while (scales[i] < 100 && most * 100 > scales[i])
		i++;
	return scales[i];
}

static uint8_t style_of(double level)
{
	return level <= 0 ? STYLE_IDLE : level < 0.34 ? STYLE_TEXT : level < 0.67 ? STYLE_WARM : STYLE_HOT;
}

/* The window, if somebody chose where it lies. */
static bool in_window(const struct heat_view *self, struct range cell)
{
	uint64_t end = scope_until(self->scope), begin = end - self->scope->window_ns;

	return self->scope->moved && self->scope->window_ns && cell.from * HEAT_NS < end && cell.to * HEAT_NS > begin;
}

static void draw_cell(const struct heat_view *self, struct canvas *canvas, int row, int column, int scale)
{
	struct place place = { self->grid.row + row, self->grid.column + column, 1 };
	struct range cell = cell_of(self, row, column), range = range_of(self);
	struct heat_slot sum = sum_of(self->answer, cell);
	double level = share_of(sum) * 100 / scale;

	if (sum.whole)
		glyphs_column(canvas, place, style_of(level), level);
	if (in_window(self, cell))
		canvas_restyle(canvas, place, STYLE_SORTED);
	if (cell.from >= range.from && cell.from < range.to)
		canvas_restyle(canvas, place, STYLE_CURSOR);
}

static const char *subject(const struct heat_view *self)
{
	return !self->answer->asked.of ? self->scope->filter.count ? "what passes the filter" : "busy CPUs" :
		self->answer->name[0] ? self->answer->name : "the function";
}

static uint64_t shown(const struct heat_view *self, uint64_t ns)
{
	return uptime_shown(self->answer->answer.zero, ns);
}

static void draw_head(const struct heat_view *self, struct canvas *canvas, struct area area, int scale)
{
	struct place place = { area.row, area.column + LEFT, area.columns - LEFT - 1 };
	char time[SCOPE_TIME], last[SCOPE_TIME];
	int used;

	used = canvas_text(canvas, place, STYLE_DIM, scope_time(shown(self, self->first * NS_PER_SECOND), time)) + 2;
	place.width = self->grid.columns;
	if (place.width >= 2 * used)
		canvas_right(canvas, place, STYLE_DIM, !self->scope->until_ns ? "now" :
			scope_time(shown(self, last_slot(self) / HEAT_SECOND * NS_PER_SECOND), last));
	place.column += used;
	place.width = area.columns - LEFT - 1 - 2 * used;
	if (place.width > 0)
		canvas_format(canvas, place, STYLE_TITLE, "%s, brightest at %d %%%s", subject(self), scale,
			self->scope->base.until_ns ? "; shows no change" : "");
}

static void draw_grid(const struct heat_view *self, struct canvas *canvas, int scale)
{
	for (int row = 0; row < self->grid.rows; row++) {
		canvas_format(canvas, (struct place) { self->grid.row + row, self->grid.column - LEFT + 1, LEFT - 1 },
			STYLE_DIM, "%4llu ms", (unsigned long long)((uint64_t)row * self->each * HEAT_NS / NS_PER_MS));
		for (int column = 0; column < self->grid.columns; column++)
			draw_cell(self, canvas, row, column, scale);
	}
}

static void draw_detail(const struct heat_view *self, struct canvas *canvas, struct place place)
{
	struct range range = range_of(self);
	struct heat_slot sum = sum_of(self->answer, range);
	char when[SCOPE_PLACE], share[TREE_SHARE], hint[KEYS_TEXT];

	place.column++;
	place.width--;
	scope_place(shown(self, range.from * HEAT_NS), shown(self, range.to * HEAT_NS), when);
	keys_text(self->keys, self->begun ? "{open} makes it the window" : "{open} begins a range here", hint);
	if (sum.whole)
		canvas_format(canvas, place, STYLE_TITLE, "%s: %s %s%%  %s", when, subject(self),
			tree_row_share(sum.part, sum.whole, sum.whole, share), hint);
	else
		canvas_format(canvas, place, STYLE_TITLE, "%s: nothing is known  %s", when, hint);
}

static void draw_emptiness(const struct heat_view *self, struct canvas *canvas, struct area area)
{
	const struct table like = { .count = 0 };

	emptiness_draw(emptiness(self->vitals, self->answer->heat.count ? &like : NULL, self->scope), canvas, area,
		self->keys);
}

static void heat_draw(void *context, struct canvas *canvas, struct area area)
{
	struct heat_view *self = context;
	int scale;

	self->grid = (struct area) { .rows = 0 };
	if (!self->answer || area.rows < 1)
		return;
	if (!self->answer->heat.count || !sum_of(self->answer, (struct range) { 0, UINT64_MAX }).whole) {
		draw_emptiness(self, canvas, area);
		return;
	}
	/* The first row is the head, the last one the detail line. */
	lay_out(self, (struct area) { area.row + 1, area.column, area.rows - 2, area.columns });
	if (!has_grid(self))
		return;
	scale = scale_of(self);
	draw_head(self, canvas, area, scale);
	draw_grid(self, canvas, scale);
	draw_detail(self, canvas, (struct place) { area.row + area.rows - 1, area.column, area.columns });
}

/* ---- what the user does ---- */

static void move(struct heat_view *self, int64_t slots)
{
	uint64_t cursor;

	if (!has_grid(self))
		return;
	cursor = cursor_of(self);
	self->placed = true;
	self->cursor = slots < 0 && cursor < (uint64_t)-slots ? 0 : cursor + (uint64_t)slots;
	self->cursor = cursor_of(self);
}

/* The first time a range begins at the cursor. The second time it is chosen. */
static bool begin_range(struct heat_view *self)
{
	if (!has_grid(self))
		return false;
	self->ranges = self->begun;
	if (self->begun)
		return true;
	self->begin = self->cursor = cursor_of(self);
	self->begun = self->placed = true;
	return true;
}

static bool go_back(struct heat_view *self)
{
	bool took = self->begun || of(self);

	if (!self->begun)
		self->chosen.put = false;
	self->begun = false;
	return took;
}

static bool heat_act(void *context, enum action action)
{
	struct heat_view *self = context;
	int64_t each = (int64_t)self->each;

	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		move(self, action == ACTION_UP ? -each : each);
		return true;
	case ACTION_LEFT:
	case ACTION_RIGHT:
		move(self, action == ACTION_LEFT ? -HEAT_SECOND : HEAT_SECOND);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		move(self, action == ACTION_PAGE_UP ? -PAGE * HEAT_SECOND : PAGE * HEAT_SECOND);
		return true;
	case ACTION_TOP:
		move(self, -HEAT_SLOTS);
		return true;
	case ACTION_BOTTOM:
		self->placed = false;
		return true;
	case ACTION_OPEN:
		return begin_range(self);
	case ACTION_BACK:
		return go_back(self);
	default:
		return false;
	}
}

static bool heat_range(void *context, uint64_t *from, uint64_t *to)
{
	struct heat_view *self = context;
	struct range range;

	if (!has_grid(self) || !self->begun || !self->ranges)
		return false;
	range = range_of(self);
	*from = range.from * HEAT_NS;
	*to = range.to * HEAT_NS;
	self->begun = self->ranges = false;
	return true;
}

static bool heat_moment(const void *context, struct view_moment *moment)
{
	const struct heat_view *self = context;
	struct range range;

	if (!has_grid(self))
		return false;
	range = range_of(self);
	*moment = (struct view_moment) {
		.from = range.from * HEAT_NS, .to = range.to * HEAT_NS, .at = range.from * HEAT_NS,
		.thread = EVENT_NONE, .cpu = EVENT_NONE,
	};
	return true;
}

static int within(int at, int count)
{
	return at < 0 ? 0 : at < count ? at : count - 1;
}

/* The nearest cell. */
static uint64_t cell_at(const struct heat_view *self, int row, int column)
{
	return cell_of(self, within(row - self->grid.row, self->grid.rows),
		within(column - self->grid.column, self->grid.columns)).from;
}

static void heat_click(void *context, int row, int column)
{
	struct heat_view *self = context;

	self->pressed = has_grid(self) && row >= self->grid.row && row < self->grid.row + self->grid.rows &&
		column >= self->grid.column && column < self->grid.column + self->grid.columns;
	if (!self->pressed)
		return;
	self->placed = true;
	self->begun = false;
	self->begin = self->cursor = cell_at(self, row, column);
}

static void heat_release(void *context, int row, int column)
{
	struct heat_view *self = context;

	if (self->pressed && has_grid(self)) {
		self->cursor = cell_at(self, row, column);
		self->begun = self->cursor != self->begin;
	}
	self->pressed = false;
}

/* It has no names. */
static bool heat_search(void *context, const char *pattern, enum list_search where)
{
	(void)context;
	(void)pattern;
	(void)where;
	return false;
}

static struct view_chosen heat_chosen(void *context)
{
	return ((const struct heat_view *)context)->chosen;
}

static void heat_choose(void *context, struct view_chosen chosen)
{
	((struct heat_view *)context)->chosen = chosen;
}

/* A map that does not end now stays as it is: the agent forgets its slots after a while. */
static const struct request *heat_ask(void *context, const struct scope *scope)
{
	struct heat_view *self = context;
	struct heat_request *request = &self->request;

	memset(request, 0, sizeof(*request));
	request->request.kind = &heat_map_kind;
	request->request.pause_ms = PAUSE_MS;
	request->request.excerpt.filter = scope->filter;
	request->request.excerpt.until_ns = scope->until_ns;
	request->of = of(self);
	if (scope->until_ns && self->answer && self->answer->whole &&
			memcmp(&self->answer->asked, request, sizeof(*request)) == 0)
		return NULL;
	return &request->request;
}

static bool heat_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)scope;
	return answer->kind == &heat_map_kind && ((const struct heat_map *)answer)->asked.of == of(context);
}

static struct view_told heat_told(const void *context)
{
	const struct heat_view *self = context;
	const struct heat_map *map = self->answer;

	return (struct view_told) {
		.known = map && map->heat.count, .end = map ? map->now : 0,
		.rows = map && sum_of(map, (struct range) { 0, UINT64_MAX }).whole,
	};
}

const struct view view_heat = {
	.name = "Heat",
	.new = heat_new,
	.free = heat_free,
	.ask = heat_ask,
	.show = heat_show,
	.draw = heat_draw,
	.takes = heat_takes,
	.told = heat_told,
	.act = heat_act,
	.click = heat_click,
	.release = heat_release,
	.range = heat_range,
	.moment = heat_moment,
	.search = heat_search,
	.chosen = heat_chosen,
	.choose = heat_choose,
	.any_chosen = true,
};
