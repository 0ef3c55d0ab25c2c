/* SPDX-License-Identifier: MIT */
/*
 * A random walk over all that is on the terminal: keys, clicks, resizes and pastes, and what some guests, their links
 * and their VMs may do. A model of the state that each tab's screen should have goes along. What the screen shows and
 * asks is compared with the model, and its numbers with `report --json` of the same questions. The answers are real:
 * they come from epochs that the walk feeds. One file: the walk is one program, and this is what its parts share.
 */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/tui/fake_session.h"
#include "tui/frame/scope.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"
#include "tui/views/table/column.h"

enum { WALK_MACHINES = 3, WALK_CPUS = 2, WALK_FUNCTIONS = 12, WALK_TEXT = 1024, WALK_LINE = 40 };
enum { WALK_TALL = 30, WALK_WIDE = 100 };	/* from this size on, all that the header may say has room */
enum { WALK_HEADER = 9 };	/* the most rows of the header there, with the rows of tabs and of views */

/* Where a list's cursor should be. */
struct cursor {
	size_t row;
	uint32_t key;			/* with `follow`: the function that it was put on; else: of the first row */
	bool follow;
	size_t height;			/* rows on the screen in the last drawing; 0: not known */
	bool lost;			/* it moved by a page of unknown height, or to a function: look it up */
	bool waits;			/* a function chosen elsewhere may still come, or be in the first row */
};

/* What a view that has a table keeps while another one is shown. */
struct model_table {
	struct cursor cursor;
	enum table_column sort;
	bool invert;
	enum group_by by;
	int columns;			/* as drawn last */
	const struct function_table *functions;	/* the view's; NULL: none yet */
	bool rows_come;			/* the functions came before the first vitals, so they are not shown yet */
	uint64_t rows_boot;		/* the boot of the newest table */
	struct filter rows_filter;
	uint64_t filtered;		/* the model's, when its rows last were of the model's filter */
	enum group_by rows_by;
	bool restores;			/* with the next table, the cursor goes back to this row: */
	uint32_t restored;
};

/*
 * Tree, flame, heat, annotate, events, timeline, memory and a function's page have no table of functions: little of
 * them is modelled. The page is in no row of views.
 */
enum {
	WALK_TABLE, WALK_TREE, WALK_FLAME, WALK_HEAT, WALK_THREADS, WALK_ANNOTATE, WALK_EVENTS, WALK_TIMELINE,
	WALK_MEMORY, WALK_VIEWS,
	WALK_PAGE = WALK_VIEWS, WALK_ALL_VIEWS,
};

/* States of a screen that each view has to be seen in, and what the mouse does: the walk counts them. */
enum walk_state {
	SEEN_LIVE, SEEN_MOVED, SEEN_FROZEN, SEEN_ZEROED, SEEN_FILTERED, SEEN_BASED, SEEN_WITHOUT_IDLE, SEEN_SEARCHED,
	SEEN_DEEPER, SEEN_HELP, SEEN_FORMATS, SEEN_STATES,
};
enum walk_mouse { MOUSE_CLICK, MOUSE_WHEEL, MOUSE_LINE, MOUSE_HEAT, MOUSE_ACTS };

/* How often each was, by view. WALK_AROUND: callers and callees, in the tree. */
enum { WALK_AROUND = WALK_ALL_VIEWS, WALK_COUNTED };
struct tally {
	unsigned seen[WALK_COUNTED][SEEN_STATES];	/* drawn and compared with the model */
	unsigned keys[WALK_COUNTED][ACTIONS], mouse[WALK_COUNTED][MOUSE_ACTS];
	unsigned by[GROUPS];		/* groups of the table */
	unsigned ranges;		/* chosen in the heat map */
	unsigned autopsies;		/* of a machine that answers no more */
	unsigned moments[WALK_COUNTED];	/* gone to in Timeline, from this view */
	unsigned all[WALK_COUNTED];	/* seen over all machines */
};

/* The state that a screen should have. */
struct model {
	int view;
	bool around;			/* the tree has callers and callees, as a step from this view: */
	int around_from;
	bool of_page;			/* the code is shown as a step from a function's page */
	struct model_table table;	/* of this view */
	struct model_table tables[WALK_ALL_VIEWS];	/* those of the others */
	enum { COVER_NONE, COVER_HELP, COVER_FORMATS } cover;	/* of the view */
	size_t choice;			/* with COVER_FORMATS: the format under the cursor */
	enum { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_MARK } open;
	char text[128];			/* in the prompt */
	char filter[160], before[160];	/* as typed; when the prompt was opened */
	uint64_t filtered;		/* how often the filter became another one */
	char match[128];		/* the pattern that is searched and marked; "": none */
	struct scope place;		/* of it: how wide the window is, and where it lies */
	bool dragged;			/* it was chosen with the mouse: look it up */
	bool heated;			/* it may have been chosen in the heat map: likewise */
	bool timed;			/* it may be that of a moment of which Timeline tells: likewise */
	struct scope_step steps[SCOPE_STEPS];
	uint32_t depth;
	uint64_t zero;
	struct baseline base;
	bool no_idle;
	const char *failed;		/* a part of the message that stays until a key is pressed; NULL: none */

	const struct vitals *vitals;	/* the screen's; NULL: none yet */
	uint64_t boot;			/* of the vitals */
	bool ran;
	struct fake_wanted wanted;		/* what was asked last */
	struct fake_wanted asked;	/* when the view `asked_in` was drawn last, so far as it decides about rows */
	int asked_in;			/* WALK_ALL_VIEWS: another page was looked at since */
	bool answered;			/* that question was */
};

struct walk_guest {
	struct session session;		/* the fake one */
	struct epoch *epoch;
	struct decode *decode;
	struct meter meter;
	char name[16];
	uint64_t clock, boots;
	enum link_state link;
	enum vm_state vm;
	enum kept_wish kept;

	/* from its newest vitals */
	bool known, running;
	enum kept_wish kept_told;
	enum link_state link_told;
	enum vm_state vm_told;

	int runs, snapshots, marks;	/* how many should have been ordered so far */
	char mark[128];			/* the last one's text */
	int snapshots_seen;
	bool run_on;			/* the last order */
	enum kept_wish asked;		/* the last order, while it has no answer */
};

struct walk {
	struct random random;
	struct tally tally;
	struct config config;
	struct tabs *tabs;
	struct canvas *canvas;
	struct walk_guest guests[WALK_MACHINES];
	size_t format;			/* of snapshots */
	size_t machines, pages, page;	/* one machine has one page; with many, the first page is All */
	struct model models[WALK_MACHINES + 1];
	char *symbols;
	uint64_t now;			/* the host's time */
	long step;
	const char *piece;		/* the text that is being typed */
	bool gathered_failed;		/* a message in All's status line is a failure */
	int gathered;			/* how many messages that line has */
};

static inline bool walk_is_tree(int view)
{
	return view == WALK_TREE || view == WALK_FLAME || view == WALK_PAGE || view == WALK_ANNOTATE ||
		view == WALK_HEAT || view == WALK_EVENTS || view == WALK_TIMELINE || view == WALK_MEMORY;
}

/* The view that is counted. */
static inline int walk_counted(const struct model *model)
{
	return model->view == WALK_TREE && model->around ? WALK_AROUND : model->view;
}

static inline struct model *walk_model(struct walk *walk)
{
	return &walk->models[walk->page];
}

bool model_reads_dead(const struct model *model);	/* T does not sort, but asks for a dead machine's memory */

static inline bool walk_is_all(const struct walk *walk)
{
	return walk->machines > 1 && walk->page == 0;
}

/* The machine of the page that is shown, which must not be All. */
static inline struct walk_guest *walk_guest(struct walk *walk)
{
	return &walk->guests[walk->machines > 1 ? walk->page - 1 : 0];
}

static inline bool walk_has_tab_row(const struct walk *walk, int rows)
{
	return walk->machines > 1 && rows >= 8;
}

/* ---- guests (walk_guest.c) ---- */

void guest_boot(struct walk *walk, struct walk_guest *guest);
void guest_goes_on(struct walk *walk, struct walk_guest *guest);
void guest_status(struct walk_guest *guest, bool running);
void guest_clear(struct walk_guest *guest);

/* Makes the answers to what is asked. The tabs take them in their next step. */
void guest_give(struct walk *walk, struct walk_guest *guest);
void guest_told(struct walk_guest *guest);		/* the tabs are about to take them */

/* ---- the model (walk_model.c, walk_list.c) ---- */

void model_key(struct walk *walk, uint32_t code);	/* a key that does not quit */
void model_paste(struct walk *walk, uint32_t code);
void model_click_bar(struct walk *walk, enum action action);
void model_act(struct walk *walk, enum action action);
void model_save(struct walk *walk);			/* in the format under the cursor of the list */
void model_look(struct model *model, int view);	/* another view is shown */
void model_follow(struct model *model);		/* cursors go with their rows, in views that are not shown, too */
struct column_layout model_layout(const struct model *model, struct column_needs needs);
enum table_column model_sort(const struct model *model);	/* by change only while there is a baseline */

/* The screen took answers, either of which may be NULL; model_told: and then a message. */
void model_took(struct model *model, const struct vitals *vitals, const struct function_table *functions);
uint64_t model_rows_boot(const struct model *model);	/* of the table; 0: it has no rows, or for another question */
void model_told(struct walk *walk, struct walk_guest *guest, const struct session_message *message);

struct table_rows {
	const struct row *rows;
	size_t count;
};
struct table_rows model_rows(const struct model *model);
const char *model_name(const struct model *model, size_t row);

void cursor_update(struct model *model);		/* the rows or their order have changed */
bool cursor_was_filtered(const struct model *model);	/* there was another filter since, and it is that of the rows */
void cursor_rewind(struct model *model);		/* the rows may be those of another question */
void cursor_select(struct model *model, size_t row);
void model_back(struct walk *walk);			/* the screen took back one thing, not the view */
void model_open(struct model *model, const char *words);	/* a step deeper into what these words let pass */
void model_open_code(struct model *model);		/* a step from a function's page to its code */
bool cursor_act(struct model *model, enum action action);	/* false: it does not move the cursor */
bool cursor_search(struct model *model, int step);	/* 0: from the cursor; +1, -1: the next; false: none */
void sort_by(struct model *model, enum table_column column);
bool sort_act(struct model *model, enum action action);

/* ---- what happens (walk_acts.c) ---- */

void walk_do_something(struct walk *walk);
void walk_show(struct walk *walk);			/* all machines make new answers */
void walk_step(struct walk *walk);			/* the tabs take the answers and messages that there are */

/* ---- what the user does (walk_keys.c, walk_mouse.c) ---- */

/* Input for the screen of this model, which has acted already, for the screen sorts the table itself. */
void walk_input(struct walk *walk, struct model *model, struct input input, bool quits);
void walk_press(struct walk *walk);			/* any key; what only the screen knows is looked up */
void walk_paste(struct walk *walk, uint32_t code);

/* The model does not know the rows of a tree: what acts on them has to be looked up, so it is no click. */
bool walk_may_be_clicked(const struct walk *walk, enum action action);
void walk_click(struct walk *walk);			/* anywhere */
void walk_scroll(struct walk *walk, bool up);
void walk_drag(struct walk *walk);			/* on the time line, if it is drawn */
void walk_drag_heat(struct walk *walk);			/* on the heat map, if it is shown */

/* ---- what has been seen (walk_tally.c) ---- */

void tally_seen(struct walk *walk);		/* what is shown was compared with the model */
void tally_add(struct tally *sum, const struct tally *tally);
void tally_check(const struct tally *tally);		/* nothing was left out */

/* ---- comparison (walk_check.c, walk_rows.c, walk_numbers.c) ---- */

void walk_fault(const struct walk *walk, const char *what, const char *wanted);
void walk_row_text(const struct walk *walk, int row, char text[WALK_TEXT]);
int walk_heads_row(const struct walk *walk);		/* -1: there is none */

/* The first row of the table that is on the screen; SIZE_MAX: the cursor's mark is not on it. */
size_t walk_top(const struct walk *walk);

void walk_draw(struct walk *walk);			/* and takes over what a drawing tells */
void walk_check(struct walk *walk);
void walk_check_orders(struct walk *walk);
void walk_check_snapshots(struct walk *walk, const struct model *model);
void walk_check_rows(const struct walk *walk);
void walk_check_numbers(struct walk *walk);

#endif
