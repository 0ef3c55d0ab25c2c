/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "scope.h"

#define BLANKS " \t"

static const unsigned windows[] = { 1, 10, 60, 0 };	/* seconds; 0: all */

/* The widths, in ms, among which scope_widen steps. Those below 250 are for ranges of the past alone. */
static const uint64_t widths[] = { 20, 40, 100, 250, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000,
	600000, 1200000, 1800000, 3600000, 7200000, 21600000, 43200000, 86400000 };
static const uint64_t precise_ns = 5 * NS_PER_SECOND;	/* hundredths of a shorter window's time are always told */
enum { WIDTHS = sizeof(widths) / sizeof(*widths), WIDTH_LIVE = 3 };	/* the first of a live window */

void scope_init(struct scope *scope)
{
	*scope = (struct scope) { .window_ns = SCOPE_SECONDS * NS_PER_SECOND };
}

void scope_next_window(struct scope *scope)
{
	size_t count = sizeof(windows) / sizeof(*windows), i = 0;

	while (scope->window_ns && i + 1 < count && windows[i] * NS_PER_SECOND <= scope->window_ns)
		i++;
	scope->window_ns = windows[i] * NS_PER_SECOND;
	scope->chosen = false;
}

const char *scope_window(const struct scope *scope, char text[SCOPE_WINDOW])
{
	uint64_t hundredths = (scope->window_ns + 5 * NS_PER_MS) / (10 * NS_PER_MS);
	unsigned part = (unsigned)(hundredths % 100);

	if (scope->window_ns == 0)
		snprintf(text, SCOPE_WINDOW, "all");
	else if (part == 0)
		snprintf(text, SCOPE_WINDOW, "%" PRIu64 "s", hundredths / 100);
	else
		snprintf(text, SCOPE_WINDOW, "%" PRIu64 ".%0*us", hundredths / 100, part % 10 ? 2 : 1,
			part % 10 ? part : part / 10);
	return text;
}

bool scope_window_named(const char *name, uint64_t *window_ns)
{
	char text[SCOPE_WINDOW];

	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		struct scope scope = { .window_ns = windows[i] * NS_PER_SECOND };

		if (strcmp(scope_window(&scope, text), name) == 0) {
			*window_ns = scope.window_ns;
			return true;
		}
	}
	return false;
}

const char *scope_time(uint64_t ns, char text[SCOPE_TIME])
{
	uint64_t seconds = ns / NS_PER_SECOND, hours = seconds / 3600;

	snprintf(text, SCOPE_TIME, "%02" PRIu64 ":%02u:%02u", hours < FLEET_HOURS ? hours : hours % 24,
		(unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	return text;
}

/* ---- where the window lies ---- */

uint64_t scope_until(const struct scope *scope)
{
	return (uint64_t)((int64_t)scope->until_ns - scope->back_ns);
}

void scope_live(struct scope *scope)
{
	if (scope->chosen)
		scope->window_ns = scope->live_ns;
	scope->until_ns = 0;
	scope->back_ns = 0;
	scope->moved = scope->chosen = false;
}

/* Moves the end of the window there, but keeps the window within what is kept. */
static void put_end(struct scope *scope, uint64_t end, struct scope_kept kept)
{
	uint64_t least = kept.begin + scope->window_ns;

	if (end < least)
		end = least;
	if (end > kept.end)
		end = kept.end;
	if (!scope->until_ns)
		scope->until_ns = kept.end;
	scope->back_ns = (int64_t)scope->until_ns - (int64_t)end;
	scope->moved = true;
}

enum scope_move scope_move(struct scope *scope, bool on, struct scope_kept kept)
{
	uint64_t end = scope->until_ns ? scope_until(scope) : kept.end, step = scope->window_ns / 2;

	if (!scope->window_ns)
		return SCOPE_WHOLE;
	if (step < widths[0] * NS_PER_MS)
		step = widths[0] * NS_PER_MS;
	if (on && end + step >= kept.end) {
		scope_live(scope);
		return SCOPE_LIVE;
	}
	if (!on && end <= kept.begin + scope->window_ns)
		return SCOPE_FIRST;
	put_end(scope, on ? end + step : end > step ? end - step : 0, kept);
	return SCOPE_MOVED;
}

void scope_widen(struct scope *scope, bool wider, struct scope_kept kept)
{
	uint64_t before = scope->window_ns, all = kept.end - kept.begin, end = scope_until(scope);
	size_t least = scope->moved ? 0 : WIDTH_LIVE, i = least;

	if (!before && wider)
		return;
	if (!before)			/* "all" narrows to the widest width that is less than all */
		before = all > widths[least] * NS_PER_MS ? all : widths[least] * NS_PER_MS + 1;
	while (i < WIDTHS && (wider ? widths[i] * NS_PER_MS <= before : widths[i] * NS_PER_MS < before))
		i++;
	if (wider)
		scope->window_ns = i < WIDTHS ? widths[i] * NS_PER_MS : 0;
	else
		scope->window_ns = widths[i > least ? i - 1 : least] * NS_PER_MS;
	if (!scope->moved || !scope->window_ns)
		return;
	if (wider)
		put_end(scope, end + (scope->window_ns - before) / 2, kept);
	else if (before > scope->window_ns)
		put_end(scope, end - (before - scope->window_ns) / 2, kept);
}

void scope_choose(struct scope *scope, uint64_t from, uint64_t to, struct scope_kept kept)
{
	if (!scope->chosen)
		scope->live_ns = scope->window_ns;
	scope->chosen = true;
	scope->window_ns = to - from;
	put_end(scope, to, kept);
}

const char *scope_place(uint64_t from, uint64_t to, char text[SCOPE_PLACE])
{
	struct scope scope = { .window_ns = to - from };
	char window[SCOPE_WINDOW], time[SCOPE_TIME];
	unsigned part = (unsigned)(from % NS_PER_SECOND / (10 * NS_PER_MS));

	scope_time(from, time);
	if (part || to - from < precise_ns)
		snprintf(text, SCOPE_PLACE, "%s at %s.%02u", scope_window(&scope, window), time, part);
	else
		snprintf(text, SCOPE_PLACE, "%s at %s", scope_window(&scope, window), time);
	return text;
}

/* Copies the words of a text with one space between them. */
static void copy_words(char *to, const char *text)
{
	bool first = true;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS), first = false) {
		size_t size = filter_word_size(text);

		if (!first)
			*to++ = ' ';
		memcpy(to, text, size);
		to += size;
		text += size;
	}
	*to = '\0';
}

static void set_filter(struct scope *scope, const struct filter *filter)
{
	scope->filtered += !filter_equal(&scope->filter, filter);
	scope->filter = *filter;
}

bool scope_filter(struct scope *scope, const char *text, char **error)
{
	struct filter filter;

	if (strlen(text) >= sizeof(scope->filter_text))
		return util_fail(error, "the filter is too long; give at most %zu bytes",
			sizeof(scope->filter_text) - 1);
	if (!filter_parse(text, &filter, error))
		return false;
	set_filter(scope, &filter);
	copy_words(scope->filter_text, text);
	return true;
}

void scope_filter_again(struct scope *scope, const struct scope *before)
{
	set_filter(scope, &before->filter);
	memcpy(scope->filter_text, before->filter_text, sizeof(scope->filter_text));
}

void scope_next_group(struct scope *scope)
{
	scope->by = (scope->by + 1) % GROUPS;
}

bool scope_open(struct scope *scope, struct scope_place from, const char *words, char **error)
{
	struct scope_step step = { .from = from, .by = scope->by };
	char *text;
	bool good;

	if (scope->depth == SCOPE_STEPS)
		return util_fail(error, "no more than %d steps are kept; {back} takes one back", SCOPE_STEPS);
	memcpy(step.filter_text, scope->filter_text, sizeof(step.filter_text));
	text = util_format("%s %s", scope->filter_text, words);
	good = scope_filter(scope, text, error);
	free(text);
	if (!good)
		return false;
	scope->by = GROUP_FUNCTION;
	util_print(step.words, sizeof(step.words), "%s", words);
	scope->steps[scope->depth++] = step;
	return true;
}

bool scope_close(struct scope *scope, struct scope_place *from)
{
	const struct scope_step *step;

	if (scope->depth == 0)
		return false;
	step = &scope->steps[--scope->depth];
	scope->by = step->by;
	*from = step->from;
	return scope_filter(scope, step->filter_text, NULL);
}

void scope_mark(struct scope *scope, uint64_t end)
{
	scope->base = (struct baseline) {
		.window_ns = scope->window_ns, .zero_ns = scope->zero_ns,
		.until_ns = scope->until_ns ? scope->until_ns : end,
		.back_ns = scope->back_ns, .moved = scope->moved,
	};
}

void scope_excerpt(const struct scope *scope, struct excerpt *excerpt)
{
	excerpt->window_ns = scope->window_ns;
	excerpt->zero_ns = scope->zero_ns;
	excerpt->until_ns = scope->until_ns;
	excerpt->back_ns = scope->back_ns;
	excerpt->moved = scope->moved;
	excerpt->filter = scope->filter;
	excerpt->by = scope->by;
	excerpt->base = scope->base;
}

/* ---- away ---- */

/* The hash FNV-1a, of 64 bits, of all bytes but the digits. */
static uint64_t mark_of(const char *text)
{
	uint64_t mark = 0xcbf29ce484222325;

	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			mark = (mark ^ (unsigned char)*text) * 0x100000001b3;
	return mark;
}

bool away_has(const struct away *away, const char *remark)
{
	uint64_t mark = mark_of(remark);

	for (size_t i = 0; i < away->count; i++)
		if (away->marks[i] == mark)
			return true;
	return false;
}

void away_put(struct away *away, const char *remark)
{
	if (away->count < AWAY_MOST)
		away->marks[away->count++] = mark_of(remark);
}
