/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/samples/sample_set.h"
#include "set_diff.h"

enum {
	ROW_TEXT = 512,
	TOLD_PERCENT = 1,		/* so many callers without a name, or more, are told, as in a report */
};

struct making {
	struct set_diff *diff;
	const struct sample_set *set;	/* the present one */
	struct hash hash;
	uint32_t *row_of;		/* of each function, or line, of the set; HASH_NONE: not looked up yet */
	uint64_t sums;			/* seen so far, in both sets */
	bool unnamed;			/* the present sum */
};

/* The row's own copy of a name. NULL: no memory. */
static char *copy_name(struct making *making, const char *name)
{
	size_t size = strlen(name) + 1;
	char *copy = budget_resize(making->diff->budget, NULL, 0, size);

	return copy ? memcpy(copy, name, size) : NULL;
}

/* HASH_NONE: no memory. */
static uint32_t row_named(struct making *making, const char *name)
{
	struct set_diff *diff = making->diff;
	uint64_t hash = hash_text(&making->hash, name);
	uint32_t at = 0, position;
	struct diff_row *rows;
	char *copy;

	while ((position = hash_next(&making->hash, hash, &at)) != HASH_NONE)
		if (strcmp(diff->rows[position].name, name) == 0)
			return position;
	rows = budget_array(diff->budget, diff->rows, diff->count, &diff->room, sizeof(*rows));
	if (!rows)
		return HASH_NONE;
	diff->rows = rows;
	copy = copy_name(making, name);
	if (!copy)
		return HASH_NONE;
	rows[diff->count++] = (struct diff_row) { .name = copy };
	return hash_add(&making->hash, hash, diff->count - 1) ? diff->count - 1 : HASH_NONE;
}

/* ---- what a row is ---- */

static const char *source_of(const struct set_function *function, uint32_t line, char text[ROW_TEXT])
{
	if (*function->file && line) {
		util_print(text, ROW_TEXT, "%s:%" PRIu32, function->file, line);
		return text;
	}
	return *function->object ? "[no source]" : function->name;
}

/* The name of the row of a function at one of its lines. */
static const char *name_of_line(const struct making *making, const struct set_line *line, char text[ROW_TEXT])
{
	const struct set_function *function = &making->set->functions[line->function];

	switch (making->diff->question.by) {
	case GROUP_LINE: return source_of(function, line->line, text);
	case GROUP_FILE:
		return *function->file ? function->file : *function->object ? "[no source]" : function->name;
	case GROUP_OBJECT: return *function->object ? function->object : function->name;
	default: return function->name;
	}
}

/* By name, or else by number: a number is another one after the next boot. */
static const char *title_of(const char *name, const char *kind, uint32_t number, char text[ROW_TEXT])
{
	if (*name)
		return name;
	if (number == SET_NONE)
		return "[unknown]";
	util_print(text, ROW_TEXT, "%s %" PRIu32, kind, number);
	return text;
}

static const char *name_of_who(const struct making *making, const struct set_sum *sum, char text[ROW_TEXT])
{
	const struct set_thread none = { .id = SET_NONE, .process = SET_NONE, .name = "", .process_name = "" };
	const struct set_who *who = &sum->who;
	const struct set_thread *thread = who->thread == SET_NONE ? &none : &making->set->threads[who->thread];

	if (sample_set_leaf(making->set, sum->stack)->kind == SET_IDLE)
		return "[idle]";
	switch (making->diff->question.by) {
	case GROUP_CPU: return title_of(who->cpu == SET_NONE ? "[CPU forgotten]" : "", "CPU", who->cpu, text);
	case GROUP_MODE: return sample_set_mode(who->mode);
	case GROUP_THREAD:
	case GROUP_COMM: return title_of(thread->name, "thread", thread->id, text);
	default: return title_of(thread->process_name, "process", thread->process, text);
	}
}

bool set_diff_knows(const struct sample_set *set, enum group_by by)
{
	bool known = by == GROUP_FUNCTION;

	for (uint32_t i = 0; !known && (by == GROUP_FILE || by == GROUP_OBJECT) && i < set->function_count; i++)
		known = *(by == GROUP_FILE ? set->functions[i].file : set->functions[i].object);
	for (uint32_t i = 0; !known && by == GROUP_LINE && i < set->line_count; i++)
		known = set->lines[i].line;
	for (uint32_t i = 0; !known && (by == GROUP_CPU || by == GROUP_MODE) && i < set->sum_count; i++)
		known = set->sums[i].who.cpu != SET_NONE;
	return known || (grouping_has_threads(by) && set->thread_count);
}

/* ---- adding ---- */

static bool is_unnamed(const struct sample_set *set, uint32_t stack)
{
	return strcmp(sample_set_leaf(set, stack)->name, "[unknown]") == 0;
}

static void add_portion(const struct making *making, struct portion *portion, const struct set_sum *sum)
{
	portion->weight += set_diff_whole(&making->diff->question, sum->samples, sum->weight);
	portion->samples += sum->samples;
}

/* Adds a sum to a row, once. */
static void add_to_row(struct making *making, uint32_t at, const struct set_sum *sum)
{
	struct diff_row *row = &making->diff->rows[at];
	bool before = making->set == making->diff->before;

	if (row->seen == making->sums)
		return;
	row->seen = making->sums;
	add_portion(making, before ? &row->before : &row->after, sum);
	if (!making->unnamed)
		add_portion(making, before ? &row->named_before : &row->named_after, sum);
}

static bool add_to_line(struct making *making, uint32_t index, const struct set_sum *sum)
{
	const struct set_line *line = &making->set->lines[index];
	uint32_t *at = &making->row_of[making->diff->question.by == GROUP_LINE ? index : line->function];
	char text[ROW_TEXT];

	if (*at == HASH_NONE)
		*at = row_named(making, name_of_line(making, line, text));
	if (*at == HASH_NONE)
		return false;
	add_to_row(making, *at, sum);
	return true;
}

/* The first of a location's functions that are rows, the innermost one first. A line is always that of the code. */
static uint32_t first_of(const struct making *making, const struct set_location *location)
{
	bool whole = making->diff->question.inlined || making->diff->question.by == GROUP_LINE;

	return whole ? 0 : location->count - 1;
}

static bool add_stack(struct making *making, const struct set_sum *sum)
{
	const struct sample_set *set = making->set;

	for (uint32_t at = sum->stack; at != SET_NONE; at = set->stacks[at].parent) {
		const struct set_location *location = &set->locations[set->stacks[at].location];

		for (uint32_t i = first_of(making, location); i < location->count; i++) {
			if (!add_to_line(making, location->first + i, sum))
				return false;
			if (!making->diff->question.total)
				return true;
		}
	}
	return true;
}

static bool add_who(struct making *making, const struct set_sum *sum)
{
	char text[ROW_TEXT];
	uint32_t at = row_named(making, name_of_who(making, sum, text));

	if (at == HASH_NONE)
		return false;
	add_to_row(making, at, sum);
	return true;
}

static bool add_sum(struct making *making, const struct set_sum *sum)
{
	struct set_diff *diff = making->diff;
	uint32_t stack = sum->stack;
	bool before = making->set == diff->before;

	while (stack != SET_NONE && !is_unnamed(making->set, stack))
		stack = making->set->stacks[stack].parent;
	making->sums++;
	making->unnamed = stack != SET_NONE && (stack == sum->stack || diff->question.total);
	if (stack == sum->stack)
		add_portion(making, before ? &diff->unnamed_before : &diff->unnamed_after, sum);
	else if (stack != SET_NONE)
		add_portion(making, before ? &diff->callers_before : &diff->callers_after, sum);
	return grouping_is_by_who(making->diff->question.by) ? add_who(making, sum) : add_stack(making, sum);
}

static bool add_set(struct making *making, const struct sample_set *set)
{
	struct budget *budget = making->diff->budget;
	uint32_t count = set->function_count > set->line_count ? set->function_count : set->line_count;
	size_t size = count * sizeof(*making->row_of);
	bool good = true;

	making->set = set;
	making->row_of = budget_resize(budget, NULL, 0, size);
	if (!making->row_of)
		return false;
	memset(making->row_of, 0xff, size);
	for (uint32_t i = 0; good && i < set->sum_count; i++)
		good = add_sum(making, &set->sums[i]);
	budget_free(budget, making->row_of, size);
	return good;
}

/* The largest change first; then what may be no chance; then the largest; then by name. */
static int compare(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double size_a = fabs(a->change.share), size_b = fabs(b->change.share);

	if (size_a != size_b)
		return size_a < size_b ? 1 : -1;
	if (a->change.chance != b->change.chance)
		return a->change.chance ? 1 : -1;
	if (a->after.weight != b->after.weight)
		return a->after.weight < b->after.weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void drop_row(struct set_diff *diff, struct diff_row *row)
{
	budget_free(diff->budget, (char *)row->name, strlen(row->name) + 1);
	*row = diff->rows[--diff->count];
}

/* Leaves the rows that the filter shows. */
static void choose_rows(struct set_diff *diff)
{
	for (uint32_t i = diff->count; diff->question.filter && i-- > 0;)
		if (!filter_shows(diff->question.filter, diff->rows[i].name))
			drop_row(diff, &diff->rows[i]);
}

/* `callers`: NULL where rows are of leaves, which have their names. */
static void set_whole(struct portion *all, struct portion *named, const struct portion *unnamed,
	const struct portion *callers)
{
	all->whole = unnamed->whole;
	all->all = unnamed->all;
	named->whole = unnamed->whole - unnamed->weight - (callers ? callers->weight : 0);
	named->all = unnamed->all - unnamed->samples - (callers ? callers->samples : 0);
}

static void set_side(const struct set_diff *diff, const struct sample_set *set, struct portion *unnamed,
	struct portion *callers)
{
	unnamed->whole = callers->whole = set_diff_whole(&diff->question, set->samples, set->weight);
	unnamed->all = callers->all = set->samples;
}

bool set_diff_make(struct set_diff *diff, const struct sample_set *before, const struct sample_set *after,
	struct diff_question question, struct budget *budget)
{
	struct making making = { .diff = diff };
	bool good;

	*diff = (struct set_diff) { .before = before, .after = after, .question = question, .budget = budget };
	hash_init(&making.hash, budget);
	good = add_set(&making, before) && add_set(&making, after);
	hash_clear(&making.hash);
	choose_rows(diff);
	set_side(diff, before, &diff->unnamed_before, &diff->callers_before);
	set_side(diff, after, &diff->unnamed_after, &diff->callers_after);
	for (uint32_t i = 0; i < diff->count; i++) {
		struct diff_row *row = &diff->rows[i];

		set_whole(&row->before, &row->named_before, &diff->unnamed_before,
			question.total ? &diff->callers_before : NULL);
		set_whole(&row->after, &row->named_after, &diff->unnamed_after,
			question.total ? &diff->callers_after : NULL);
		row->change = change_of(row->after, row->before);
		row->named = change_of(row->named_after, row->named_before);
	}
	if (diff->count)
		qsort(diff->rows, diff->count, sizeof(*diff->rows), compare);
	return good;
}

void set_diff_clear(struct set_diff *diff)
{
	for (uint32_t i = 0; i < diff->count; i++)
		budget_free(diff->budget, (char *)diff->rows[i].name, strlen(diff->rows[i].name) + 1);
	budget_free(diff->budget, diff->rows, diff->room * sizeof(*diff->rows));
	*diff = (struct set_diff) { 0 };
}

double set_diff_callers(const struct portion *callers)
{
	double share = change_share(callers->weight, callers->whole);

	return 100 * share >= TOLD_PERCENT ? share : 0;
}

double set_diff_growth(const struct diff_row *row)
{
	return row->change.chance || row->named.chance ? 0 : fmin(row->change.share, row->named.share);
}

const struct diff_row *set_diff_grown(const struct set_diff *diff, double points)
{
	const struct diff_row *most = NULL;

	for (uint32_t i = 0; i < diff->count; i++) {
		double growth = set_diff_growth(&diff->rows[i]);

		if (100 * growth > points && growth > (most ? set_diff_growth(most) : 0))
			most = &diff->rows[i];
	}
	return most;
}
