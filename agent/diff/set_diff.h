/* SPDX-License-Identifier: MIT */
/*
 * Compares two sample sets, row by row. What has one name is one row: a function, a source line, a thread. A function
 * whose file is not known is in the row [no source]; one that has no object, such as idle time, is a row of its own.
 */
#ifndef SET_DIFF_H
#define SET_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/change.h"
#include "agent/query/question/question.h"

struct budget;
struct sample_set;

struct diff_question {
	enum group_by by;		/* what a row is */
	bool total;			/* a row's share is that of all stacks it is in; else what it ran itself */
	bool inlined;			/* inlined functions are rows; else they count for the one that they are in */
	bool samples;			/* shares are of samples; else of their weights, which are times */
	const struct filter *filter;	/* its names choose the rows, with the shares that they have; NULL: all rows */
};

struct diff_row {
	const char *name;
	struct portion before, after;
	struct portion named_before, named_after;	/* of them, samples with names, as is `whole` */
	struct change change, named;	/* since `before` */
	uint64_t seen;			/* the sum that was added last: a row counts once in a stack */
};

struct set_diff {
	const struct sample_set *before, *after;
	struct diff_question question;
	struct budget *budget;
	struct diff_row *rows;		/* the largest change first */
	uint32_t count, room;
	struct portion unnamed_before, unnamed_after;	/* samples whose code has no name */
	struct portion callers_before, callers_after;	/* those whose code has one, but a caller has none */
};

/*
 * Both sets have to live as long as the diff, have samples, and know what the question is by. False: no memory; clear
 * it, too.
 */
bool set_diff_make(struct set_diff *diff, const struct sample_set *before, const struct sample_set *after,
	struct diff_question question, struct budget *budget);
void set_diff_clear(struct set_diff *diff);

/* The share of unnamed callers, 0 to 1; 0: so few that nobody has to know. */
double set_diff_callers(const struct portion *callers);

/* Does a set know, of any sample, what rows of this kind need? Folded stacks know nothing but functions. */
bool set_diff_knows(const struct sample_set *set, enum group_by by);

/* What shares are of: samples, or weight. */
static inline uint64_t set_diff_whole(const struct diff_question *question, uint64_t samples, uint64_t weight)
{
	return question->samples ? samples : weight;
}

/*
 * By how much a row's share has grown, 0 to 1, of all samples and of those with names: the lesser of the two. Of all
 * samples alone, a name that only the second side knows would count as a growth; of the named ones alone, so would
 * names of others that it lacks. Where callers count, they have names, too. 0 or less: not, or it may be chance.
 */
double set_diff_growth(const struct diff_row *row);
/* The row that has grown most, by more than `points`, which are hundredths. NULL: none has. */
const struct diff_row *set_diff_grown(const struct set_diff *diff, double points);

#endif
