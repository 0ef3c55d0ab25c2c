/* SPDX-License-Identifier: MIT */
/*
 * A call tree: the answer to a question about stacks, as rows that fold and unfold. A row stands for all stacks with
 * the same functions between the top and it. Weights are in sampling periods. Idle time is the row [idle] at the top,
 * samples without a stack are the row [unknown]. Calls that were cut (stacks.h) are not told apart.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct function;
struct symbols;

/*
 * TREE_DOWN: from the roots of the stacks to what they call. TREE_UP: from the functions that ran to those who called
 * them.
 */
enum tree_order { TREE_DOWN, TREE_UP, TREE_ORDERS };

enum {
	TREE_ROWS = 4096,		/* the most rows of a list: the heaviest */
	TREE_UNFOLDED = 512,
	TREE_TRENDS = 256,
	TREE_SECONDS = 60,		/* of a row's trend: the last whole ones, newest last */
};

#define TREE_TOP 0xffffffffu		/* in place of a parent: the row is at the top */

/*
 * A row is named by its path: a hash of the names on the way from the top to it. So it has the same path in each
 * answer, in each boot of that kernel, and on each machine. Paths of a whole tree and of one around a function, and
 * those of the two orders, are never the same. Functions with the same name and object are one in a tree.
 */

/*
 * What the object of a kernel's own code is called where several kernels may be shown. It becomes an object's name, of
 * which only what is behind the last '/' would be kept: so '-' takes the place of '/'. `kernel`: its name; "": unknown.
 */
enum { TREE_KERNEL = 64 };
const char *tree_kernel_object(const char *kernel, char name[TREE_KERNEL]);

/* The name of a function, for a path; never 0. `kernel`: the guest's kernel. With a fleet's functions: "". */
uint64_t tree_name(const struct function *function, const char *kernel);

/*
 * The path of a row with this name below the row with the path `parent`, which is 0 at the top. `around`: in a tree
 * around a function.
 */
uint64_t tree_path(enum tree_order order, bool around, uint64_t parent, uint64_t name);

/* True if the path is one of the list, which is sorted. */
bool tree_has_path(const uint64_t *paths, uint32_t count, uint64_t path);
void tree_sort_paths(uint64_t *paths, uint32_t count);

/* Requests are compared as bytes: this has no padding, and is set to zero as a whole before it is filled. */
struct tree_question {
	uint32_t orders;		/* the lists that are wanted: bits 1 << enum tree_order */
	uint32_t recursion;		/* 1: a function that calls itself is one row with all its depths */
	/*
	 * The tree_name of a function: the tree has only stacks that contain it. A stack that contains it more than
	 * once is cut where the function is outermost. TREE_DOWN has what is below the cut, TREE_UP the callers above
	 * it. In both the function is the single row at the top, and its total is that of query_table. 0: the whole
	 * tree.
	 */
	uint64_t of;
	/* Each row is unfolded for which one of these holds: */
	uint32_t least;			/* it has 1/least of the whole weight, or more; 0: none has */
	uint32_t deepest;		/* it has a depth below this */
	uint64_t hot;			/* it is the row with this path, or the heaviest child of such a row */
	uint64_t below;			/* it is the row with this path, or anywhere below it */
	/*
	 * The tree_name of a function: it is on the way to where this function is heaviest, by the heaviest caller of
	 * each step. tree_way_unfold puts these rows into `unfolded`. Not in a tree around a function. 0: none.
	 */
	uint64_t find;
	uint32_t unfolded_count, trend_count;
	uint64_t unfolded[TREE_UNFOLDED];	/* its path is one of these */
	uint64_t trends[TREE_TRENDS];	/* paths of the rows whose trend is wanted */
};

struct tree_row {
	uint64_t path;
	uint32_t function;		/* of several with the same name, the one that was met first */
	uint32_t parent;		/* the index of its parent, which is before it; or TREE_TOP */
	uint32_t depth;			/* 0 at the top */
	bool has_more;			/* there are rows below it */
	bool unfolded;			/* and they are in the list, as far as there is room */
	uint64_t total;			/* each stack counts once */
	uint64_t self;			/* the part in which it ran itself; TREE_UP: in which nobody called it */
	uint64_t samples;		/* behind the total, not weighted */
	const uint64_t *trend;		/* of the total, by second; NULL: it was not asked for */
	const char *line;		/* its function's source line; NULL: not asked for, or not known yet */
	bool based;			/* what it had in the baseline is known: */
	uint64_t base_total, base_self, base_samples;
};

struct tree_list {
	struct tree_row *rows;		/* each parent before its children; heaviest first, gone ones last */
	size_t count, room;
	uint64_t left_out;		/* rows that found no room, as far as they are known */
};

struct tree_base {			/* the baseline: another range, under the same filter; as in struct table */
	bool there;
	uint64_t weight, samples, time;
};

struct tree {
	uint64_t from, to;		/* these are as in struct table (agent/query/table.h) */
	uint64_t weight, samples;
	uint64_t time;
	uint64_t mode[MODES];
	struct tree_list lists[TREE_ORDERS];
	struct tree_base base;
	/* There was no memory for all: rows or trends are missing, or totals too small. */
	bool scarce;
	uint64_t *trends;		/* what the rows point to; TREE_SECONDS for each of trend_count */
	size_t trend_count, trend_room;
	struct budget *budget;		/* has paid for rows and trends */
};

struct tree *tree_new(struct budget *budget);	/* empty */
void tree_free(struct tree *tree);		/* NULL is allowed */

/* Adds a row at the end, all zero, and returns it. Rows that were returned before may move. */
struct tree_row *tree_add(struct tree *tree, enum tree_order order);

/*
 * Gives a row its trend, all zero, and returns it. At most `most` in a tree, the same in each call. NULL: there is no
 * memory, and the tree is scarce.
 */
uint64_t *tree_add_trend(struct tree *tree, struct tree_row *row, size_t most);

/* ---- a tree and its baseline ---- */

/* Compares a call tree with another one: the baseline. Rows are told by their paths. */

struct change;

/*
 * The question to be asked about the baseline's range, whose answer goes to tree_compare: it unfolds what the tree has
 * unfolded, as far as there is room.
 */
void tree_compare_question(const struct tree *tree, const struct tree_question *wanted, struct tree_question *question);

/*
 * `with` becomes the baseline of the tree. Rows that only `with` has are added, with totals of 0, each behind its
 * siblings. A row without `based` is one that `with` did not unfold, or left out.
 */
void tree_compare(struct tree *tree, const struct tree *with);

/* How a row's total has changed. Only for rows with `based`. */
struct change tree_total_change(const struct tree *tree, const struct tree_row *row);

/* ---- a row after recursion was folded, or unfolded ---- */

/*
 * Where a row is found again after recursion was folded, or unfolded: at its own path, at that of the row into which it
 * is folded, or at the nearest row on the way there.
 */

enum {
	TREE_FOLD = 130,		/* as many paths as a row has on its way, and its own */
	TREE_FOLD_WAY = 2,		/* the first one of the way; those before are the row's own */
};

struct tree_fold {			/* starts as { 0 } */
	uint32_t count;			/* 0: nothing is looked for */
	uint64_t paths[TREE_FOLD];	/* the best one first: the row's own */
};

/* Of a row of this list, in the tree around a function if `around`. `kernel`: as in tree_name. */
void tree_fold_of(struct tree_fold *fold, const struct tree_list *list, const struct tree_row *row,
	enum tree_order order, bool around, const struct symbols *symbols, const char *kernel);

/* The best path that has a row; 0: none has. Once it is the row itself, nothing is looked for any more. */
uint64_t tree_fold_find(struct tree_fold *fold, const struct tree_list *list);

/* ---- the way to where a function is heaviest ---- */

/*
 * The way through a call tree to the place where a function is heaviest, by the heaviest caller of each step. The tree
 * around the function has the same stacks in the other order: what is above the function in the tree that is wanted is
 * below it there. So the hot path of that one, read from its end, is the way.
 */

/* False: no function is to be found. Else `around` is the question whose answer goes to tree_way_unfold. */
bool tree_way_question(const struct tree_question *wanted, struct tree_question *around);

/* Adds the rows on the way to those that are unfolded, as far as there is room. `kernel`: as in tree_name. */
void tree_way_unfold(const struct tree *around, const struct symbols *symbols, const char *kernel,
	struct tree_question *wanted);

#endif
