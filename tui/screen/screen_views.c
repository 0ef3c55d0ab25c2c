/* SPDX-License-Identifier: MIT */
/* Moving among the views: by keys, by clicks on their names, one step deeper and back. */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/query/question/grouping.h"
#include "tui/frame/tab_row.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/views/views.h"
#include "screen_state.h"

enum { ROWS_LEAST = 20 };		/* rows of the canvas from which there is a row of names */

const struct view *const screen_views[VIEWS] = {
	[VIEW_FUNCTIONS] = &view_functions,
	[VIEW_TREE] = &view_tree,
	[VIEW_FLAME] = &view_flame,
	[VIEW_HEAT] = &view_heat,
	[VIEW_THREADS] = &view_threads,
	[VIEW_ANNOTATE] = &view_annotate,
	[VIEW_EVENTS] = &view_events,
	[VIEW_TIMELINE] = &view_timeline,
	[VIEW_MEMORY] = &view_memory,
	[VIEW_CONSOLE] = &view_console,
	[VIEW_HELP] = &view_help,
	[VIEW_FORMATS] = &view_formats,
	[VIEW_FUNCTION] = &view_function,
};

/* What a row of the view's table is at first. */
static const enum group_by first_by[VIEWS] = { [VIEW_THREADS] = GROUP_THREAD };

/* The keys of the views, in their order. */
static const enum action actions[VIEWS_NAMED] = {
	[VIEW_FUNCTIONS] = ACTION_FUNCTIONS, [VIEW_TREE] = ACTION_TREE, [VIEW_FLAME] = ACTION_FLAME,
	[VIEW_HEAT] = ACTION_HEAT, [VIEW_THREADS] = ACTION_THREADS, [VIEW_ANNOTATE] = ACTION_ANNOTATE,
	[VIEW_EVENTS] = ACTION_EVENTS, [VIEW_TIMELINE] = ACTION_TIMELINE, [VIEW_MEMORY] = ACTION_MEMORY,
	[VIEW_CONSOLE] = ACTION_CONSOLE,
};

void screen_views_init(struct screen *screen)
{
	memcpy(screen->by, first_by, sizeof(first_by));
	screen->code_from = VIEWS;
}

/*
 * The function that the cursor was put on, in the last view that has functions. It goes through a view where it has no
 * row or cell, unless the cursor is moved there.
 */
static void take_chosen(struct screen *screen)
{
	const struct view *view = screen_views[screen->current];

	if (view->chosen && screen->scope.by == GROUP_FUNCTION && (screen->moved || !screen->chosen.put))
		screen->chosen = view->chosen(screen->selves[screen->current]);
}

static void explain(struct screen *screen, uint64_t now, const char *text)
{
	char filled[KEYS_TEXT];

	status_explain(&screen->status, keys_text(screen->keys, text, filled), now);
}

static void change(struct screen *screen, int view)
{
	status_view_left(&screen->status);
	screen->by[screen->current] = screen->scope.by;
	screen->scope.by = screen->by[view];
	screen->current = view;
	screen->cover = 0;
	screen->moved = false;
	screen->code_from = VIEWS;
}

void screen_look(struct screen *screen, int view)
{
	take_chosen(screen);
	change(screen, view);
	if (screen_views[view]->choose && screen->chosen.name && (screen->chosen.put || screen_views[view]->any_chosen))
		screen_views[view]->choose(screen->selves[view], screen->chosen);
}

/* A cursor at the top does not follow its row. After a step deeper it does: Esc goes back to that row. */
static void stay(struct screen *screen, struct view_chosen chosen)
{
	if (screen->current != VIEW_FUNCTION && screen_views[screen->current]->choose)
		screen_views[screen->current]->choose(screen->selves[screen->current], chosen);
}

/* ---- callers and callees of one function ---- */

static void leave_around(struct screen *screen)
{
	screen_views[VIEW_TREE]->around(screen->selves[VIEW_TREE], (struct view_chosen) { .name = 0 });
	screen->around = false;
}

static void look_around(struct screen *screen, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	bool deeper = screen->around && screen->current == VIEW_TREE;
	struct view_chosen chosen = { .name = 0 };

	if (view->chosen)
		chosen = view->chosen(screen->selves[screen->current]);
	if (!chosen.name) {
		screen_complain(screen, now, "no callers and callees: the cursor is on no function; put it on one");
		return;
	}
	if (!deeper) {
		stay(screen, chosen);
		screen->around_from = screen->current;
	}
	screen->around = true;
	change(screen, VIEW_TREE);
	screen->chosen = chosen;
	screen_views[VIEW_TREE]->around(screen->selves[VIEW_TREE], chosen);
	explain(screen, now, "callers above the function, what it calls below; {back} goes back");
}

/* ---- a function's page ---- */

/* False: the cursor is not on a function. */
static bool look_at_page(struct screen *screen, uint64_t now)
{
	struct view_chosen chosen = { .name = 0 };

	if (screen_shown(screen) == &view_functions)
		chosen = view_functions.chosen(screen->selves[VIEW_FUNCTIONS]);
	if (!chosen.name)
		return false;
	stay(screen, chosen);
	screen->page_from = screen->current;
	change(screen, VIEW_FUNCTION);
	screen->chosen = chosen;
	view_function.choose(screen->selves[VIEW_FUNCTION], chosen);
	explain(screen, now, "who runs the function, its lines, its callers and callees; {back} goes back");
	return true;
}

/* ---- the code of a line ---- */

/* False: the cursor is not on a line. `row`: that of the cursor, for `restore`. */
static bool look_at_code(struct screen *screen, uint64_t row, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	struct view_chosen of = { .name = 0 };
	const char *line = view->line ? view->line(screen->selves[screen->current], &of) : "";
	int from = screen->current;

	if (!*line)
		return false;
	change(screen, VIEW_ANNOTATE);
	screen->chosen = of;
	view_annotate.choose(screen->selves[VIEW_ANNOTATE], of);
	view_annotate_go(screen->selves[VIEW_ANNOTATE], line);
	screen->code_from = from;
	screen->code_row = row;
	explain(screen, now, "the code of the function; {back} goes back");
	return true;
}

static bool is_of_page(const struct screen *screen)
{
	return screen->code_from == VIEW_FUNCTION;
}

static void leave_code(struct screen *screen)
{
	int from = screen->code_from;

	change(screen, from);
	if (from == VIEW_FUNCTIONS)
		view_functions.restore(screen->selves[from], screen->code_row);
}

/* The view whose name is marked in the row of names. */
static int named_view(const struct screen *screen)
{
	if (screen->cover == VIEW_CONSOLE)
		return VIEW_CONSOLE;
	return screen->current == VIEW_FUNCTION ? screen->page_from : screen->current;
}

/* ---- the row of names ---- */

/* Returns how many there are. */
static int name_views(const struct screen *screen, struct view_name names[VIEWS_NAMED],
	char keys[VIEWS_NAMED][KEYS_NAME])
{
	int count = screen->feed.console ? VIEWS_NAMED : VIEWS_OF_PROFILE;

	for (int i = 0; i < count; i++) {
		names[i] = (struct view_name) { keys[i], screen_views[i]->name };
		keys_first(screen->keys, actions[i], keys[i]);
	}
	return count;
}

/* The view from which the first step deeper was made; VIEWS: none was made. */
static int first_view(const struct screen *screen)
{
	bool around = screen->around && screen->current == VIEW_TREE;
	bool code = screen->code_from != VIEWS;
	int from = around ? screen->around_from : code ? screen->code_from : screen->current;

	if (screen->scope.depth)
		from = screen->scope.steps[0].from.view;
	if (screen->scope.depth && from != VIEW_FUNCTION)
		return from;
	return from == VIEW_FUNCTION ? screen->page_from : around || code ? from : VIEWS;
}

/*
 * "Functions > page_alloc > thread:5 > mode:user > main": steps deeper, each behind the pages from which it was made;
 * and then the way through the view.
 */
static struct view_way way_here(const struct screen *screen)
{
	const struct view *view = screen_views[screen->current];
	const struct scope *scope = &screen->scope;
	struct view_way way = { .count = 0 };
	int first = first_view(screen);

	if (view->way)
		view->way(screen->selves[screen->current], &way);
	if (is_of_page(screen) && way.count)	/* the first function of the code is that of the page */
		way.count--;
	if (is_of_page(screen))
		view_function.way(screen->selves[VIEW_FUNCTION], &way);
	for (uint32_t i = scope->depth; i-- > 0;) {
		view_way_add(&way, '>', scope->steps[i].words);
		if (scope->steps[i].from.view == VIEW_FUNCTION)
			view_function_way(screen->selves[VIEW_FUNCTION], scope->steps[i].from.row, &way);
	}
	if (first < VIEWS)
		view_way_add(&way, '>', screen_views[first]->name);
	return way;
}

int screen_draw_views(struct screen *screen, struct canvas *canvas, int row)
{
	struct view_name names[VIEWS_NAMED];
	char keys[VIEWS_NAMED][KEYS_NAME];
	struct view_way way;
	int count;

	screen->names = (struct place) { .row = row };
	if (canvas->rows < ROWS_LEAST)
		return 0;
	screen->names.width = canvas->columns;
	count = name_views(screen, names, keys);
	way = screen->cover == VIEW_CONSOLE ? (struct view_way) { .count = 0 } : way_here(screen);
	screen->has_way = way.count;
	view_row_draw(canvas, screen->names, names, (size_t)count, (size_t)named_view(screen), &way);
	return 1;
}

enum action screen_views_action(const struct screen *screen, int row, int column)
{
	const struct canvas like = { .unicode = true };	/* keys and names are ASCII */
	struct view_name names[VIEWS_NAMED];
	char keys[VIEWS_NAMED][KEYS_NAME];
	size_t view, count;

	if (screen->names.width == 0 || row != screen->names.row)
		return ACTION_NONE;
	count = (size_t)name_views(screen, names, keys);
	view = view_row_at(&like, screen->names, names, count, screen->has_way, column);
	return view < count ? actions[view] : ACTION_NONE;
}

/* ---- actions ---- */

bool screen_reads_dead(const struct screen *screen)
{
	return screen->vitals && vitals_are_dead(screen->vitals) && !screen->cover;
}

static void look_at_death(struct screen *screen, uint64_t now)
{
	screen_say(screen, now, "reading the last moments out of the machine's memory");
	screen->feed.read_dead(screen->feed.self, screen->vitals->kernel);
	screen_live(screen, now);
	screen_look(screen, VIEW_TIMELINE);
}

/*
 * Timeline at what the cursor is on; its time becomes the window. A search that led there is over: its keys lead from
 * event to event now. False: the view knows no such.
 */
static bool look_at_moment(struct screen *screen, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	struct view_moment moment;

	if (!view->moment)
		return false;
	if (!screen_is_of_boot(screen, screen->answers[screen->current]) ||
			!view->moment(screen->selves[screen->current], &moment)) {
		screen_complain(screen, now, "not shown: nothing is under the cursor of which Timeline could tell; "
			"{timeline} shows all");
		return true;
	}
	if (moment.to)
		screen_choose_range(screen, moment.from, moment.to, now);
	screen->scope.match[0] = '\0';
	screen_look(screen, VIEW_TIMELINE);
	view_timeline_go(screen->selves[VIEW_TIMELINE], &moment);
	return true;
}

static void look_at_console(struct screen *screen, uint64_t now)
{
	if (!screen->feed.console)
		screen_complain(screen, now, "no console here: this ktop has not started QEMU; `ktop run -- QEMU ...` "
			"shows what QEMU and its guest print");
	else
		screen->cover = VIEW_CONSOLE;
}

bool screen_views_act(struct screen *screen, enum action action, uint64_t now)
{
	if (action == ACTION_TREE && screen->around)
		leave_around(screen);
	if (action == ACTION_AROUND)
		look_around(screen, now);
	if (action == ACTION_SORT_TIME && screen_reads_dead(screen)) {
		look_at_death(screen, now);
		return true;
	}
	if (action == ACTION_SORT_TIME && look_at_moment(screen, now))
		return true;
	if (action == ACTION_NEXT_VIEW && screen->feed.console && named_view(screen) == VIEWS_OF_PROFILE - 1)
		action = ACTION_CONSOLE;
	if (action == ACTION_NEXT_VIEW)
		screen_look(screen, (named_view(screen) + 1) % VIEWS_NAMED % VIEWS_OF_PROFILE);
	if (action == ACTION_CONSOLE)
		look_at_console(screen, now);
	for (int i = 0; i < VIEWS_OF_PROFILE; i++)
		if (action == actions[i]) {
			screen_look(screen, i);
			return true;
		}
	return action == ACTION_NEXT_VIEW || action == ACTION_AROUND || action == ACTION_CONSOLE;
}

/* In the view of threads, rows are processes, threads, or all threads of one name. */
void screen_next_group(struct screen *screen, uint64_t now)
{
	struct scope *scope = &screen->scope;
	char *text;

	if (screen->current == VIEW_TREE || screen->current == VIEW_FLAME || screen->current == VIEW_FUNCTION ||
			screen->current == VIEW_HEAT || screen->current == VIEW_ANNOTATE ||
			screen->current == VIEW_EVENTS || screen->current == VIEW_TIMELINE ||
			screen->current == VIEW_MEMORY) {
		screen_complain(screen, now, "not grouped: the rows of this view are given; {functions} and {threads} "
			"show views that group");
		return;
	}
	if (screen->current == VIEW_THREADS)
		scope->by = scope->by == GROUP_COMM ? GROUP_PROCESS : scope->by + 1;
	else
		scope_next_group(scope);
	text = util_format("rows by %s; {by} takes the next", group_words[scope->by]);
	screen_say(screen, now, text);
	free(text);
}

static const char *why_closed(const struct screen *screen)
{
	const struct view *view = screen_shown(screen);
	const char *why = view->closed ? view->closed(screen->selves[screen->current]) : NULL;

	return why ? why : "not opened: there is nothing deeper here; {help} tells what {open} does in each view";
}

void screen_open_row(struct screen *screen, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	struct scope_place from = { .view = screen->current };
	const char *words = view->open ? view->open(screen->selves[screen->current], &from.row) : "";
	char *error = NULL, *text;

	screen->by[screen->current] = screen->scope.by;
	if (!*words && (look_at_page(screen, now) || look_at_code(screen, from.row, now)))
		return;
	if (!*words) {
		screen_complain(screen, now, why_closed(screen));
	} else if (scope_open(&screen->scope, from, words, &error)) {
		screen->current = VIEW_FUNCTIONS;
		text = util_format("the functions of %s; {back} goes back", words);
		screen_say(screen, now, text);
		free(text);
	} else {
		text = util_format("not opened: %s", error);
		screen_complain(screen, now, text);
		free(text);
	}
	free(error);
}

void screen_go_back(struct screen *screen, bool marked, uint64_t now)
{
	struct scope_place from;

	screen->by[screen->current] = screen->scope.by;
	if (screen->cover && !(screen->cover == VIEW_CONSOLE && marked)) {
		screen->cover = 0;
	} else if (marked) {
		screen->scope.match[0] = '\0';
		screen_say(screen, now, "no search: nothing is marked");
	} else if (screen->current == VIEW_FUNCTION) {
		change(screen, screen->page_from);
		view_functions.choose(screen->selves[VIEW_FUNCTIONS],
			view_function.chosen(screen->selves[VIEW_FUNCTION]));
	} else if (screen->code_from != VIEWS && screen->current == VIEW_ANNOTATE) {
		leave_code(screen);
	} else if (screen->around && screen->current == VIEW_TREE) {
		leave_around(screen);
		change(screen, screen->around_from);
	} else if (scope_close(&screen->scope, &from)) {
		screen->current = from.view;
		screen_views[from.view]->restore(screen->selves[from.view], from.row);
		screen_say(screen, now, "back to where the step began");
	} else if (screen->scope.filter_text[0]) {
		scope_filter(&screen->scope, "", NULL);
		screen_say(screen, now, "no filter: all is shown");
	} else if (screen->scope.zero_ns) {
		screen->scope.zero_ns = 0;
		screen_say(screen, now, "counting all again");
	} else if (screen->scope.match[0]) {
		screen->scope.match[0] = '\0';
		screen_say(screen, now, "no search: nothing is marked");
	} else {
		screen_say(screen, now, "nothing to take back: there is no step, search, filter or zero");
	}
}

/* Why a key did nothing in the view that is shown; NULL: for no reason that needs a word. */
static const char *why_nothing(const struct screen *screen, enum action action)
{
	bool tree = screen->current == VIEW_TREE;

	switch (action) {
	case ACTION_SORT: case ACTION_SORT_LEFT: case ACTION_SORT_RIGHT: case ACTION_INVERT:
	case ACTION_SORT_CPU: case ACTION_SORT_TIME:
		return "not sorted: the rows of this view have one order; {functions} and {threads} show tables";
	case ACTION_UNFOLD: case ACTION_HOT: case ACTION_ALL:
		return tree ? "not unfolded: this row has none below it, or shows them" :
			"not unfolded: this key is for {tree}";
	case ACTION_FOLD:
		return tree ? "not folded: nothing is shown below this row, and it has no parent" :
			"not folded: this key is for {tree}";
	case ACTION_TURN:
		return tree ? "not turned: callers and callees have one order" :
			"not turned: this key is for {tree} and {flame}";
	case ACTION_FLIP:
		return "not turned: this key is for {flame}";
	case ACTION_RECURSION:
		return "not merged: this key is for {tree} and {flame}";
	case ACTION_PAGE_UP: case ACTION_PAGE_DOWN: case ACTION_BOTTOM:
		return "not moved: a flame has no pages; the arrows go from cell to cell";
	case ACTION_WAKER:
		return screen->current == VIEW_THREADS ?
			"not shown: the thread is in no row, or nothing traced tells for whom this one waits" :
			"not shown: who woke a thread is told in {timeline} and {threads}, once something is traced";
	case ACTION_FORM: case ACTION_HOTTEST:
		return "no code is here: this key is for {annotate}";
	default:
		return NULL;
	}
}

void screen_did_nothing(struct screen *screen, enum action action, uint64_t now)
{
	const char *why = screen->cover ? NULL : why_nothing(screen, action);

	if (why)
		screen_complain(screen, now, why);
}
