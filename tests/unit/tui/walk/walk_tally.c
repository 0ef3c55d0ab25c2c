/* SPDX-License-Identifier: MIT */
/* Counts what a walk has seen and done, so that no view, state or key is left out unnoticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/query/question/grouping.h"
#include "walk.h"

static const char *const views[WALK_COUNTED] = { "Functions", "Tree", "Flame", "Heat", "Threads", "Annotate",
	"Events", "Timeline", "a function's page", "callers and callees" };
static const char *const states[SEEN_STATES] = { "live", "moved", "frozen", "zeroed", "filtered", "with a baseline",
	"without idle time", "searched", "one step deeper", "behind the help",
	"behind the formats" };
static const char *const mouse[MOUSE_ACTS] = { "a click", "the wheel", "a drag on the time line", "a drag of cells" };

void tally_seen(struct walk *walk)
{
	const struct model *model = walk_model(walk);
	unsigned *seen = walk->tally.seen[walk_counted(model)];
	bool place = model->place.moved || model->place.until_ns;

	if (!model->vitals)
		return;
	seen[SEEN_LIVE] += !place;
	seen[SEEN_MOVED] += model->place.moved;
	seen[SEEN_FROZEN] += place && !model->place.moved;
	seen[SEEN_ZEROED] += model->zero != 0;
	seen[SEEN_FILTERED] += model->filter[0] != '\0';
	seen[SEEN_BASED] += model->base.until_ns != 0;
	seen[SEEN_WITHOUT_IDLE] += model->no_idle;
	seen[SEEN_SEARCHED] += model->match[0] != '\0';
	seen[SEEN_DEEPER] += model->depth != 0;
	seen[SEEN_HELP] += model->cover == COVER_HELP;
	seen[SEEN_FORMATS] += model->cover == COVER_FORMATS;
	walk->tally.by[model->table.by] += !walk_is_tree(model->view);
	walk->tally.all[walk_counted(model)] += walk_is_all(walk);
}

static void lacks(const char *what, const char *view)
{
	fail_msg("the walk has never seen or done this: %s, in %s", what, view);
}

static unsigned sum_of_keys(const struct tally *tally, enum action action)
{
	unsigned sum = 0;

	for (int view = 0; view < WALK_COUNTED; view++)
		sum += tally->keys[view][action];
	return sum;
}

/* The tally is of numbers alone. */
void tally_add(struct tally *sum, const struct tally *tally)
{
	const unsigned *from = (const unsigned *)tally;
	unsigned *to = (unsigned *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

static void print(const struct tally *tally)
{
	for (int view = 0; view < WALK_COUNTED; view++) {
		printf("# %s:", views[view]);
		for (int i = 0; i < SEEN_STATES; i++)
			printf(" %s %u,", states[i], tally->seen[view][i]);
		printf(" over all machines %u,", tally->all[view]);
		for (int i = 0; i < MOUSE_ACTS; i++)
			printf(" %s %u%s", mouse[i], tally->mouse[view][i], i + 1 < MOUSE_ACTS ? "," : "\n");
	}
	printf("# ranges chosen in the heat map: %u\n", tally->ranges);
}

/* The keys of a recording do nothing here, for there is none. */
static void check_keys(const struct tally *tally)
{
	for (int i = 0; i < KEYS_ROWS; i++) {
		const struct key *key = &keys_standard.rows[i];

		if (!keys_of_replay(key) && !sum_of_keys(tally, key->action))
			lacks(key->name, "any view");
	}
}

void tally_check(const struct tally *tally)
{
	print(tally);
	for (int view = 0; view < WALK_COUNTED; view++) {
		for (int i = 0; i < SEEN_STATES; i++)
			if (!tally->seen[view][i])
				lacks(states[i], views[view]);
		for (int i = 0; i < MOUSE_HEAT; i++)
			if (!tally->mouse[view][i])
				lacks(mouse[i], views[view]);
		if (!tally->all[view])
			lacks("all machines", views[view]);
	}
	for (int by = 0; by < GROUPS; by++)
		if (!tally->by[by])
			lacks(group_words[by], "a table");
	if (!tally->mouse[WALK_HEAT][MOUSE_HEAT] || !tally->ranges)
		lacks("a range", views[WALK_HEAT]);
	if (!tally->moments[WALK_HEAT] || !tally->moments[WALK_THREADS])
		lacks("a step to Timeline", "Heat or Threads");
	if (!tally->autopsies)
		lacks("a reading of its memory", "a dead machine");
	check_keys(tally);
}
