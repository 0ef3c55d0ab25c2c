/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/annotation.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/list.h"
#include "tui/frame/scope.h"
#include "tui/frame/tab_row.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/annotate_row.h"
#include "config.h"
#include "views.h"

enum { HEADS_FROM = 5, DETAIL_FROM = 6 };	/* rows from which there are heads, and the detail line */
enum { PAUSE_MS = 250, TEXT = 512 };

/* The jumps and calls through which one came to the code that is shown. */
enum { CODE_TRAIL = 64 };		/* steps that are kept; of more, the first ones are forgotten */

struct code_step {
	struct view_chosen of;		/* the function that jumps, or calls the next one */
	uint64_t row;			/* the key of the row of that jump or call */
	size_t top;			/* the first row on the screen there */
};

struct code_trail {			/* starts as { 0 } */
	struct code_step steps[CODE_TRAIL];
	int count;
};

struct annotate_view {
	const struct keys *keys;
	const struct vitals *vitals;
	const struct annotation *answer;	/* NULL: none yet */
	const struct scope *scope;
	struct annotation_request request;
	struct view_chosen of;		/* the function; `name` 0: none was chosen */
	struct code_trail trail;	/* through jumps and calls to where the cursor came to */
	enum listing_form form;
	bool begun;			/* the cursor was put on the hottest line */
	char wish[TEXT];		/* the cursor goes to this line (view_annotate_go); "": it stays */
	bool scrolls;			/* the next drawing shows what is above the cursor, too */
	struct listing *listing;	/* held: `rows` and `jumps` are of it; NULL: there are none */
	enum listing_form listed;	/* the form of `rows` */
	struct listing_row *rows;
	size_t count;
	struct jumps jumps;
	struct list list;
	struct area area, body;		/* of the last drawing: the whole view; its rows */
};

/* ---- rows ---- */

static uint64_t row_key(const void *context, size_t row)
{
	const struct annotate_view *self = context;

	return listing_row_key(self->listing, &self->rows[row]);
}

static const char *row_name(const void *context, size_t row)
{
	const struct annotate_view *self = context;
	const struct listing_row *at = &self->rows[row];
	const char *line = at->source ? listing_line(self->listing, at->line) :
		self->listing->instructions[at->first].text;

	return line ? line : "";
}

static struct list_rows rows_of(const struct annotate_view *self)
{
	return (struct list_rows) { .context = self, .count = self->count, .key = row_key, .name = row_name };
}

static const struct listing_row *selected(const struct annotate_view *self)
{
	return self->list.cursor < self->count ? &self->rows[self->list.cursor] : NULL;
}

static void drop_rows(struct annotate_view *self)
{
	free(self->rows);
	jumps_clear(&self->jumps);
	listing_release(self->listing);
	self->rows = NULL;
	self->listing = NULL;
	self->count = 0;
}

/* The instruction at which a row is, in whatever form; LISTING_NONE: it has none. */
static uint32_t instruction_at(const struct annotate_view *self, const struct listing_row *row)
{
	uint32_t best = LISTING_NONE;

	if (!row->whole)
		return row->first < row->end ? row->first : LISTING_NONE;
	for (uint32_t i = 0; i < self->listing->count; i++)
		if (self->listing->instructions[i].line == row->line && (best == LISTING_NONE ||
				(i < self->listing->count && self->answer && self->answer->listing == self->listing &&
				self->answer->heat[i].weight > self->answer->heat[best].weight)))
			best = i;
	return best;
}

/* Is the instruction, or the source line, in this row? */
static bool has(const struct annotate_view *self, const struct listing_row *row, uint32_t instruction, uint32_t line)
{
	if (instruction == LISTING_NONE)
		return row->source && row->line == line;
	return row->whole ? self->listing->instructions[instruction].line == row->line :
		instruction >= row->first && instruction < row->end;
}

/* The rows of another form, with the cursor on the same line or instruction. */
static void change_form(struct annotate_view *self)
{
	const struct listing_row *row = selected(self);
	uint32_t instruction = row ? instruction_at(self, row) : LISTING_NONE, line = row ? row->line : 0;
	struct list_rows rows;

	free(self->rows);
	self->rows = listing_rows(self->listing, self->form, &self->count);
	self->listed = self->form;
	rows = rows_of(self);
	list_update(&self->list, &rows, self->list.height);
	for (size_t i = 0; row && i < self->count; i++)
		if (has(self, &self->rows[i], instruction, line)) {
			list_select(&self->list, &rows, i);
			return;
		}
}

static uint64_t weight_of(const struct annotate_view *self, size_t row)
{
	return annotation_row(self->answer, &self->rows[row]).weight;
}

/* With lines, it goes from line to line. */
static bool counts(const struct annotate_view *self, size_t row)
{
	return self->rows[row].source || self->form == LISTING_INSTRUCTIONS || !self->listing->first;
}

/* Does row a come before row b, in order of heat? */
static bool is_hotter(const struct annotate_view *self, size_t a, size_t b)
{
	uint64_t one = weight_of(self, a), other = weight_of(self, b);

	return one != other ? one > other : a < b;
}

/* The next line in order of heat; behind the last one, and from a line without any, the hottest. */
static void next_hottest(struct annotate_view *self, bool first)
{
	size_t best = self->count, next = self->count, at = self->list.cursor;
	struct list_rows rows = rows_of(self);

	if (!self->answer || self->answer->listing != self->listing || !self->count)
		return;
	while (!first && at > 0 && !counts(self, at))
		at--;
	for (size_t i = 0; i < self->count; i++) {
		if (!counts(self, i) || !weight_of(self, i))
			continue;
		if (best == self->count || is_hotter(self, i, best))
			best = i;
		if (is_hotter(self, at, i) && (next == self->count || is_hotter(self, i, next)))
			next = i;
	}
	if (first || next == self->count || !weight_of(self, at))
		next = best;
	if (next == self->count)
		return;
	self->scrolls = first || next < self->list.top || next >= self->list.top + self->list.height;
	list_select(&self->list, &rows, next);
}

/* The cursor goes to the wished line's hottest instruction: to the row of the line there, if the form has one. */
static void grant(struct annotate_view *self)
{
	const struct listing *listing = self->listing;
	struct list_rows rows = rows_of(self);
	uint32_t best = LISTING_NONE;

	if (!*self->wish || !self->count || !self->answer || self->answer->listing != listing)
		return;
	for (uint32_t i = 0; i < listing->count; i++)
		if (listing_stands_in(listing, &listing->instructions[i], self->wish) && (best == LISTING_NONE ||
				self->answer->heat[i].weight > self->answer->heat[best].weight))
			best = i;
	for (size_t i = 0; best != LISTING_NONE && i < self->count; i++)
		if (has(self, &self->rows[i], best, 0)) {
			list_select(&self->list, &rows, i);
			self->scrolls = true;
			self->begun = true;
			break;
		}
	if (best != LISTING_NONE || !self->answer->answer.partial)
		self->wish[0] = '\0';
}

static void fill(struct annotate_view *self)
{
	struct listing *listing = self->answer ? self->answer->listing : NULL;
	struct list_rows rows;

	if (listing != self->listing) {
		drop_rows(self);
		self->listing = listing_hold(listing);
		if (listing) {
			self->jumps = jumps_new(listing);
			self->rows = listing_rows(listing, self->form, &self->count);
			self->listed = self->form;
		}
	}
	rows = rows_of(self);
	list_update(&self->list, &rows, self->list.height);
	if (!self->begun && self->count && self->answer->self.weight) {
		next_hottest(self, true);
		self->begun = true;
	}
	grant(self);
}

/* ---- the view's life ---- */

static void *annotate_new(const struct config *config)
{
	struct annotate_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->form = LISTING_BOTH;
	return self;
}

static void annotate_free(void *context)
{
	drop_rows(context);
	free(context);
}

static void annotate_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct annotate_view *self = context;

	self->vitals = vitals;
	self->scope = scope;
	self->answer = (const struct annotation *)answer;
	if (answer && self->answer->of != self->of.name)	/* of the function before */
		self->answer = NULL;
	fill(self);
}

/* ---- drawing ---- */

static const struct function *function_of(const struct annotate_view *self)
{
	return self->answer && self->answer->function != FUNCTION_NONE ?
		symbols_get(self->answer->answer.symbols, self->answer->function) : NULL;
}

static void draw_rows(struct annotate_view *self, struct canvas *canvas, struct area area)
{
	const struct annotate_look look = {
		.annotation = self->answer, .jumps = &self->jumps, .match = self->scope->match,
	};
	struct list_rows rows = rows_of(self);
	size_t above = (size_t)area.rows / 3;

	if (self->scrolls)
		self->list.home = self->list.cursor > above ? self->list.cursor - above : 0;
	self->scrolls = false;
	list_update(&self->list, &rows, (size_t)area.rows);
	for (int i = 0; i < area.rows && self->list.top + (size_t)i < self->count; i++) {
		struct place place = { area.row + i, area.column, area.columns };
		size_t at = self->list.top + (size_t)i;

		annotate_row_draw(canvas, place, &self->rows[at], &look);
		if (at == self->list.cursor) {
			canvas_put(canvas, place, STYLE_TITLE, '>');
			canvas_restyle(canvas, place, STYLE_CURSOR);
		}
	}
}

static struct emptiness why_empty(const struct annotate_view *self)
{
	const struct annotation *answer = self->answer;
	struct table like = { .count = 1 };

	if (!self->of.name)
		return (struct emptiness) { "No function was chosen.",
			"Put the cursor on one in {functions}, {tree} or {flame}, then come back." };
	if (!answer)
		return emptiness(self->vitals, NULL, self->scope);
	if (self->count)
		return (struct emptiness) { NULL, NULL };
	like.samples = answer->samples;
	memcpy(like.mode, answer->mode, sizeof(like.mode));
	if (!answer->weight) {
		like.count = 0;
		return emptiness(self->vitals, &like, self->scope);
	}
	if (answer->function == FUNCTION_NONE || (!answer->self.weight && !answer->answer.partial))
		return emptiness_of_function(self->scope, true);
	if (answer->answer.partial)
		return (struct emptiness) { "Its code is being read.", "" };
	return (struct emptiness) { answer->lacks, "" };
}

static void draw_emptiness(const struct annotate_view *self, struct canvas *canvas, struct area area)
{
	struct area at = { area.row, area.column + 2, area.rows, area.columns - 3 };

	emptiness_draw(why_empty(self), canvas, at, self->keys);
}

/* "61.20% of page_alloc, 412 samples  [inlined list_pop, list.h:40]  kernel", and what the listing lacks. */
static void draw_detail(const struct annotate_view *self, struct canvas *canvas, struct place place)
{
	const struct function *function = function_of(self);
	const struct listing_row *row = selected(self);
	struct annotation_heat heat;
	char where[ANNOTATE_PLACE];

	if (!row || !function)
		return;
	heat = annotation_row(self->answer, row);
	annotate_row_place(self->answer, row, where);
	place.column++;
	place.width--;
	canvas_format(canvas, place, STYLE_TITLE, "%.2f%% of %s, %" PRIu64 " sample%s  %s%s%s%s%s%s",
		annotate_row_percent(heat.weight, self->answer->self.weight), function->name, heat.samples,
		util_plural(heat.samples), where, *where ? "  " : "", function->object,
		*self->answer->lacks ? "  (" : "", self->answer->lacks, *self->answer->lacks ? ")" : "");
}

static void annotate_draw(void *context, struct canvas *canvas, struct area area)
{
	struct annotate_view *self = context;
	int heads = area.rows >= HEADS_FROM ? 1 : 0, detail = area.rows >= DETAIL_FROM ? 1 : 0;

	self->area = area;
	self->body = (struct area) { area.row + heads, area.column, area.rows - heads - detail, area.columns };
	if (self->body.rows < 1)
		return;
	if (heads && function_of(self))
		annotate_row_heads(canvas, (struct place) { area.row, area.column, area.columns }, self->answer);
	if (self->answer && self->count)
		draw_rows(self, canvas, self->body);
	draw_emptiness(self, canvas, self->body);
	if (detail)
		draw_detail(self, canvas, (struct place) { area.row + area.rows - 1, area.column, area.columns });
}

/* ---- what the user does ---- */

static void code_trail_open(struct code_trail *trail, struct code_step step)
{
	if (trail->count == CODE_TRAIL)
		memmove(trail->steps, trail->steps + 1, (size_t)--trail->count * sizeof(*trail->steps));
	trail->steps[trail->count++] = step;
}

/* False: there was none. */
static bool code_trail_back(struct code_trail *trail, struct code_step *step)
{
	if (trail->count == 0)
		return false;
	*step = trail->steps[--trail->count];
	return true;
}

static void put_back(struct annotate_view *self, const struct code_step *step)
{
	list_follow(&self->list, step->row);
	self->list.home = step->top;
}

/* Another function's code is shown, from its hottest line on; or, with `back`, from the row where it was left. */
static void turn_to(struct annotate_view *self, struct view_chosen of, const struct code_step *back)
{
	self->of = of;
	self->wish[0] = '\0';
	drop_rows(self);
	self->answer = NULL;
	self->begun = back;
	list_rewind(&self->list);
	if (back)
		put_back(self, back);
}

/* Where the cursor is. */
static struct code_step here(const struct annotate_view *self)
{
	return (struct code_step) { .of = self->of, .row = row_key(self, self->list.cursor), .top = self->list.top };
}

/* The cursor goes to where the instruction under it jumps, within the function. */
static bool follow_jump(struct annotate_view *self, const struct listing_instruction *from)
{
	uint32_t target = from->goes ? listing_find(self->listing, from->goes) : LISTING_NONE;
	struct list_rows rows = rows_of(self);

	for (size_t i = 0; target != LISTING_NONE && i < self->count; i++)
		if (!self->rows[i].source && self->rows[i].first == target) {
			code_trail_open(&self->trail, here(self));
			list_select(&self->list, &rows, i);
			return true;
		}
	return false;
}

/* To the code of the function that the instruction calls. */
static bool follow_call(struct annotate_view *self, uint32_t instruction)
{
	struct view_chosen to = { .name = annotation_callee(self->answer, instruction), .put = true };

	if (!to.name)
		return false;
	util_print(to.text, sizeof(to.text), "%s", self->listing->instructions[instruction].callee);
	code_trail_open(&self->trail, here(self));
	turn_to(self, to, NULL);
	return true;
}

static bool annotate_deeper(struct annotate_view *self)
{
	const struct listing_row *row = selected(self);

	if (!row || row->source || !self->answer || self->answer->listing != self->listing)
		return false;
	return follow_jump(self, &self->listing->instructions[row->first]) || follow_call(self, row->first);
}

/* To the row of the last jump or call that was followed. */
static bool go_back(struct annotate_view *self)
{
	struct list_rows rows = rows_of(self);
	struct code_step step;

	if (!code_trail_back(&self->trail, &step))
		return false;
	if (step.of.name != self->of.name) {
		turn_to(self, step.of, &step);
		return true;
	}
	put_back(self, &step);
	list_update(&self->list, &rows, self->list.height);
	return true;
}

static const char *annotate_closed(void *context)
{
	const struct annotate_view *self = context;
	const struct listing_row *row = selected(self);

	if (!row)
		return "not opened: there is no code here; choose a function in another view";
	if (row->source && self->form == LISTING_SOURCE)
		return "not opened: this is a source line; {form} shows its jumps and calls";
	if (row->source)
		return "not opened: this is a source line; {open} follows the jumps and calls below it";
	return "not opened: this is no jump or call with a known target; {open} follows those";
}

static bool act(struct annotate_view *self, enum action action)
{
	struct list_rows rows = rows_of(self);

	switch (action) {
	case ACTION_FORM:
		self->form = (self->form + 1) % LISTING_FORMS;
		if (self->listing)
			change_form(self);
		return true;
	case ACTION_HOTTEST:
		next_hottest(self, false);
		return true;
	case ACTION_OPEN:
		return annotate_deeper(self);
	case ACTION_BACK:
		return go_back(self);
	default:
		return list_act(&self->list, &rows, action);
	}
}

static bool annotate_act(void *context, enum action action)
{
	struct annotate_view *self = context;
	bool acted = act(self, action);

	if (acted && action != ACTION_FORM)
		self->wish[0] = '\0';
	return acted;
}

static void annotate_click(void *context, int row, int column)
{
	struct annotate_view *self = context;
	struct list_rows rows = rows_of(self);
	int line = row - self->body.row;

	(void)column;
	self->wish[0] = '\0';
	if (line >= 0 && (size_t)line < self->list.height && self->list.top + (size_t)line < rows.count)
		list_select(&self->list, &rows, self->list.top + (size_t)line);
}

static bool annotate_search(void *context, const char *pattern, enum list_search where)
{
	struct annotate_view *self = context;
	struct list_rows rows = rows_of(self);

	self->wish[0] = '\0';
	return list_search(&self->list, &rows, pattern, where);
}

static struct view_chosen annotate_chosen(void *context)
{
	return ((const struct annotate_view *)context)->of;
}

static void annotate_choose(void *context, struct view_chosen chosen)
{
	struct annotate_view *self = context;
	bool same = chosen.name == self->of.name;

	self->wish[0] = '\0';
	self->of = chosen;
	if (same)
		return;
	self->trail.count = 0;
	turn_to(self, chosen, NULL);
}

void view_annotate_go(void *context, const char *line)
{
	struct annotate_view *self = context;

	self->trail.count = 0;
	util_print(self->wish, sizeof(self->wish), "%s", line);
	grant(self);
}

static void annotate_way_to(void *context, struct view_way *way)
{
	const struct annotate_view *self = context;
	uint64_t before = 0;

	for (int i = self->trail.count; i >= 0; i--) {
		const struct view_chosen *of = i == self->trail.count ? &self->of : &self->trail.steps[i].of;

		if (of->name != before)			/* else it is a jump within it */
			view_way_add(way, '>', of->text);
		before = of->name;
	}
}

static const struct request *annotate_ask(void *context, const struct scope *scope)
{
	struct annotate_view *self = context;
	struct annotation_request *request = &self->request;

	if (self->area.rows < 1)
		return NULL;
	memset(request, 0, sizeof(*request));		/* requests are compared as bytes */
	request->request.kind = &annotation_kind;
	request->request.pause_ms = PAUSE_MS;
	scope_excerpt(scope, &request->request.excerpt);
	request->function = self->of.name;
	return &request->request;
}

static bool annotate_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)scope;
	return answer->kind == &annotation_kind &&
		((const struct annotation *)answer)->of == ((const struct annotate_view *)context)->of.name;
}

static struct view_told annotate_told(const void *context)
{
	const struct annotate_view *self = context;

	return (struct view_told) {
		.known = self->answer && self->answer->answer.symbols, .rows = self->count,
		.end = self->answer ? self->answer->to : 0,
	};
}

const struct view view_annotate = {
	.name = "Annotate",
	.new = annotate_new,
	.free = annotate_free,
	.ask = annotate_ask,
	.show = annotate_show,
	.draw = annotate_draw,
	.takes = annotate_takes,
	.told = annotate_told,
	.act = annotate_act,
	.closed = annotate_closed,
	.click = annotate_click,
	.search = annotate_search,
	.chosen = annotate_chosen,
	.choose = annotate_choose,
	.any_chosen = true,
	.way = annotate_way_to,
};
