/* SPDX-License-Identifier: MIT */
/*
 * A walk over all that is on the terminal: keys, clicks, resizes, pastes and what some guests, their
 * links and their VMs may do, by chance. Beside it goes a model of the state that each tab's screen
 * should have. What is shown and asked for is held against that, and the numbers against
 * `report --json` of the same questions. The answers are real ones, of epochs that are fed here.
 */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/guest/meter.h"
#include "agent/query/query.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/fake_session.h"
#include "tests/unit/fakes/random.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"

enum { WALK_MACHINES = 3, WALK_CPUS = 2, WALK_FUNCTIONS = 12, WALK_TEXT = 1024, WALK_LINE = 40 };
enum { WALK_TALL = 30, WALK_WIDE = 100 };	/* where all that the header may say has its place */
enum { WALK_HEADER = 7 };			/* rows there, the tabs' among them, at most */

#define WALK_SECOND UINT64_C(1000000000)

/* Where a list's cursor should be. */
struct cursor {
	size_t row;
	uint32_t key;			/* the function that it was put on, if `follow` */
	bool follow;
	size_t height;			/* rows on the screen, as drawn last; 0: not known */
	bool lost;			/* by a page of unknown height: it is looked up */
};

/* What a screen's state should be. */
struct model {
	bool help;
	enum { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER } open;
	char text[128];			/* in the prompt */
	char filter[160], before[160];	/* as typed; as it was when the prompt was opened */
	char match[128];		/* what is searched and marked; "": nothing */
	unsigned window;		/* seconds; 0: all */
	uint64_t zero, until;
	bool no_idle;
	const char *failed;		/* part of a message that stays until a key; NULL: none */

	struct cursor cursor;
	enum table_column sort;
	bool invert;
	int columns;			/* as drawn last */

	const struct vitals *vitals;	/* the screen's; NULL: none yet */
	const struct function_table *functions;	/* likewise */
	bool rows_come;			/* the functions are not shown yet: there are no vitals */
	uint64_t boot, rows_boot;	/* of the vitals; of the newest with a table */
	struct filter rows_filter;
	bool ran;
	struct fake_wish wish;		/* as asked for last */
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

	/* as its newest vitals have it */
	bool known, running;
	enum kept_wish kept_told;
	enum link_state link_told;
	enum vm_state vm_told;

	int runs, snapshots;		/* that should have been ordered so far */
	int snapshots_seen;
	bool run_on;			/* what was ordered last */
	enum kept_wish asked;		/* and has no answer yet */
};

struct walk {
	struct random random;
	struct config config;
	struct tabs *tabs;
	struct canvas *canvas;
	struct walk_guest guests[WALK_MACHINES];
	size_t machines, pages, page;	/* one machine: one page; else the first is All */
	struct model models[WALK_MACHINES + 1];
	char *symbols;
	uint64_t now;			/* of the host */
	long step;
	const char *piece;		/* what is being typed */
	bool gathered_failed;		/* All's line of messages has a failure */
	int gathered;			/* messages in it */
};

static inline struct model *walk_model(struct walk *walk)
{
	return &walk->models[walk->page];
}

static inline bool walk_is_all(const struct walk *walk)
{
	return walk->machines > 1 && walk->page == 0;
}

/* The machine of the page that is looked at; not of All. */
static inline struct walk_guest *walk_guest(struct walk *walk)
{
	return &walk->guests[walk->machines > 1 ? walk->page - 1 : 0];
}

/* The rows below the tabs. */
static inline bool walk_has_tab_row(const struct walk *walk, int rows)
{
	return walk->machines > 1 && rows >= 8;
}

/* ---- guests (walk_guest.c) ---- */

void guest_boot(struct walk *walk, struct walk_guest *guest);
void guest_goes_on(struct walk *walk, struct walk_guest *guest);
void guest_status(struct walk_guest *guest, bool running);
void guest_clear(struct walk_guest *guest);

/* Gives the answers to what is asked; the tabs take them with their next step. */
void guest_give(struct walk *walk, struct walk_guest *guest);
void guest_told(struct walk_guest *guest);		/* they are about to be taken */

/* ---- the model (walk_model.c, walk_list.c) ---- */

void model_key(struct walk *walk, uint32_t code);	/* one that does not quit */
void model_paste(struct walk *walk, uint32_t code);
void model_click_bar(struct walk *walk, enum action action);
void model_act(struct walk *walk, enum action action);

/* Answers were taken, either of which may be NULL, and then a message. */
void model_took(struct model *model, const struct vitals *vitals, const struct function_table *functions);
void model_told(struct walk *walk, struct walk_guest *guest, const struct session_message *message);

struct table_rows {
	const struct row *rows;
	size_t count;
};
struct table_rows model_rows(const struct model *model);
const char *model_name(const struct model *model, size_t row);

void cursor_update(struct model *model);		/* rows or their order are others */
void cursor_rewind(struct model *model);		/* rows of another question may be there */
void cursor_select(struct model *model, size_t row);
bool cursor_act(struct model *model, enum action action);	/* false: it is not about the cursor */
bool cursor_search(struct model *model, int step);	/* 0: from here; +1, -1; false: not found */
void sort_by(struct model *model, enum table_column column);
bool sort_act(struct model *model, enum action action);

/* ---- what happens (walk_acts.c) ---- */

void walk_do_something(struct walk *walk);
void walk_show(struct walk *walk);			/* new answers, of all machines */
void walk_step(struct walk *walk);			/* the tabs take what there is */

/* ---- comparison (walk_check.c, walk_rows.c, walk_numbers.c) ---- */

void walk_fault(const struct walk *walk, const char *what, const char *wanted);
void walk_row_text(const struct walk *walk, int row, char text[WALK_TEXT]);
int walk_heads_row(const struct walk *walk);		/* -1: there is none */
size_t walk_top(const struct walk *walk);		/* the table's row that is first on the screen */

void walk_draw(struct walk *walk);			/* and what is known by that */
void walk_check(struct walk *walk);
void walk_check_orders(struct walk *walk);
void walk_check_snapshots(struct walk *walk, const struct model *model);
void walk_check_rows(const struct walk *walk);
void walk_check_numbers(struct walk *walk);

#endif
