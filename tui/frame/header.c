/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/answers/time_line.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/vm/state_words.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "emptiness.h"
#include "header.h"
#include "scope.h"
#include "title.h"

/* ---- the row of time ---- */

enum { LEFT = 10, RIGHT = 6, LEAST = 8 };	/* columns for the first time and the last; the fewest slots */

size_t time_row_slots(int columns)
{
	int slots = columns - LEFT - RIGHT;

	return slots < LEAST ? 0 : slots < SERIES_SLOTS ? (size_t)slots : SERIES_SLOTS;
}

/* The column of the first slot: the last one stands at the right. */
static int first_column(struct place place, const struct time_line *line)
{
	return place.column + LEFT + (int)time_row_slots(place.width) - (int)line->series.count;
}

static void draw_slot(struct canvas *canvas, struct place place, const struct series_slot *slot, bool function)
{
	uint64_t kernel = slot->mode[MODE_KERNEL], user = slot->mode[MODE_USER];
	uint64_t busy = function ? slot->part : kernel + user;
	uint8_t style = function ? STYLE_HOT : kernel >= user ? STYLE_KERNEL : STYLE_USER;

	if (slot->whole)
		glyphs_column(canvas, place, busy ? style : STYLE_IDLE, (double)busy / (double)slot->whole);
}

/* The slots of the window, first <= i < end. */
struct slots {
	size_t first, end;
};

static struct slots slots_of(const struct time_line *line, const struct scope *scope)
{
	const struct series *series = &line->series;
	uint64_t last = series->begin + series->count * series->width;
	uint64_t to = scope->until_ns ? scope_until(scope) : line->now;
	uint64_t from = scope->window_ns && scope->window_ns < to ? to - scope->window_ns : 0;
	struct slots slots = { 0, series->count };

	if (!scope->moved && scope->zero_ns > from && scope->zero_ns < to)
		from = scope->zero_ns;
	if (to > last)
		to = last;
	if (to <= series->begin)
		to = series->begin + 1;
	if (from >= to)
		from = to - 1;
	if (from > series->begin)
		slots.first = (size_t)((from - series->begin) / series->width);
	slots.end = (size_t)((to - series->begin + series->width - 1) / series->width);
	return slots;
}

/* The brackets stand on the columns beside the window; there is one at each side of the line. */
static void draw_window(struct canvas *canvas, struct place place, const struct time_line *line,
	const struct scope *scope)
{
	struct slots slots = slots_of(line, scope);
	int first = first_column(place, line) + (int)slots.first, end = first + (int)(slots.end - slots.first);

	canvas_put(canvas, (struct place) { place.row, first - 1, 1 }, STYLE_TITLE, '[');
	canvas_put(canvas, (struct place) { place.row, end, 1 }, STYLE_TITLE, ']');
}

void time_row_draw(struct canvas *canvas, struct place place, const struct time_line *line, const struct scope *scope)
{
	char time[SCOPE_TIME];
	int column;

	if (!line || !line->series.count || line->series.count > time_row_slots(place.width))
		return;
	column = first_column(place, line);
	canvas_text(canvas, (struct place) { place.row, column - LEFT, LEFT - 2 }, STYLE_DIM,
		scope_time(uptime_shown(line->answer.zero, line->series.begin), time));
	for (size_t i = 0; i < line->series.count; i++)
		draw_slot(canvas, (struct place) { place.row, column + (int)i, 1 }, &line->series.slots[i], line->of);
	column += (int)line->series.count;
	canvas_text(canvas, (struct place) { place.row, column + 2, RIGHT - 2 }, STYLE_DIM, "now");
	draw_window(canvas, place, line, scope);
}

struct time_slot time_row_at(struct place place, const struct time_line *line, int column)
{
	int slot = line ? column - first_column(place, line) : 0, count = line ? (int)line->series.count : 0;
	uint64_t begin;

	if (count == 0)
		return (struct time_slot) { .end = 0 };
	slot = slot < 0 ? 0 : slot < count ? slot : count - 1;
	begin = line->series.begin + (uint64_t)slot * line->series.width;
	return (struct time_slot) { begin, begin + line->series.width };
}

/* ---- header ---- */

enum {
	BAR_LEAST = 8, BAR_MOST = 25,	/* columns of a bar */
	LABEL = 16,			/* bytes of a label; columns of a machine's name at most */
	IDLE = 7,			/* columns of the share of idle time, " i  17%" */
	STRIP_MOST = 4,			/* rows of the strip */
};

#define MISSED_TOLD 0.2			/* a remark tells of missed periods if their share is larger than this */

struct bars {				/* how many columns the parts of one CPU's line have */
	int label, bar, histogram;
};

/* " cpu0 k ████▌  62% u ██▎  21% i 17% │ 60s ▁▂▃": all parts but the bars and the histogram have fixed widths. */
static struct bars bars_layout(int label, int columns)
{
	static const int histograms[] = { 60, 30, 20, 10, 0 };
	struct bars bars = { .label = label };

	for (size_t i = 0; i < sizeof(histograms) / sizeof(*histograms); i++) {
		int fixed = label + 2 * 7 + 7, left;

		bars.histogram = histograms[i];
		left = columns - 1 - fixed - (bars.histogram ? bars.histogram + 7 : 0);
		bars.bar = left / 2 > BAR_MOST ? BAR_MOST : left / 2 > 0 ? left / 2 : 0;
		if (bars.bar >= BAR_LEAST)
			break;
	}
	return bars;
}

static uint64_t sum_modes(const uint64_t mode[MODES])
{
	uint64_t sum = 0;

	for (int i = 0; i < MODES; i++)
		sum += mode[i];
	return sum;
}

/* A share, 0 to 1; -1: there are no samples. */
static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

/* The style of kernel or of user, whichever has more. */
static uint8_t busier_style(const uint64_t mode[MODES])
{
	return mode[MODE_KERNEL] >= mode[MODE_USER] ? STYLE_KERNEL : STYLE_USER;
}

static void draw_histogram(struct canvas *canvas, struct place place,
	const struct cpu_series *series)
{
	uint64_t modes[MODES][TABLE_TREND], folded[MODES][TABLE_TREND];

	for (int mode = 0; mode < MODES; mode++) {
		for (int i = 0; i < TABLE_TREND; i++)
			modes[mode][i] = series->trend ? series->trend[i][mode] : 0;
		glyphs_fold(modes[mode], TABLE_TREND, folded[mode], (size_t)place.width);
	}
	for (int i = 0; i < place.width; i++) {
		uint64_t all[MODES] = { folded[0][i], folded[1][i], folded[2][i] };
		uint64_t busy = all[MODE_KERNEL] + all[MODE_USER], sum = sum_modes(all);

		glyphs_column(canvas, (struct place) { place.row, place.column + i, 1 },
			busier_style(all), share(busy, sum));
	}
}

/* Draws the name of a share, a bar of so many columns, and the share in percent. Returns the column behind them. */
static int draw_bar(struct canvas *canvas, struct place place, int bar, uint8_t style,
	const char *name, double part)
{
	canvas_text(canvas, (struct place) { place.row, place.column, 3 }, STYLE_DIM, name);
	place.column += 3;
	glyphs_bar(canvas, (struct place) { place.row, place.column, bar }, style, part);
	place.column += bar;
	if (part < 0)
		canvas_text(canvas, (struct place) { place.row, place.column, 4 }, STYLE_DIM, "   -");
	else
		canvas_format(canvas, (struct place) { place.row, place.column, 4 }, style,
			"%3.0f%%", part * 100);
	return place.column + 4;
}

static void draw_bars(struct canvas *canvas, struct place place, struct bars bars,
	const struct cpu_series *series)
{
	const uint64_t *mode = series->mode;
	uint64_t sum = sum_modes(mode);
	int end = place.column + place.width;

	place.column = draw_bar(canvas, place, bars.bar, STYLE_KERNEL, " k ",
		share(mode[MODE_KERNEL], sum));
	place.column =
		draw_bar(canvas, place, bars.bar, STYLE_USER, " u ", share(mode[MODE_USER], sum));
	if (place.column + IDLE <= end)
		place.column = draw_bar(canvas, place, 0, STYLE_IDLE, " i ",
			share(mode[MODE_IDLE], sum));
	if (bars.histogram == 0)
		return;
	place.width = end - place.column;
	place.column += 1 + canvas_format(canvas, (struct place) { place.row, place.column + 1, 6 },
		STYLE_DIM, "%s 60s ", glyphs_text(canvas, GLYPH_WALL));
	place.width = bars.histogram;
	draw_histogram(canvas, place, series);
}

/* Why this CPU has no bars; NULL: it has some. */
static const char *why_not_sampled(const struct vitals *vitals, const struct cpu_vitals *cpu)
{
	if (cpu->sampler)
		return "sampler: sends the NMIs to the others, is not sampled itself";
	return vitals->running && !cpu->enabled ? "not sampled" : NULL;
}

/* `why`: a text in place of the bars; NULL: the bars are drawn. */
static void draw_cpu(struct canvas *canvas, struct place place, struct bars bars,
	const char *label, const char *why, const struct cpu_series *series)
{
	canvas_text(canvas, (struct place) { place.row, place.column + 1, bars.label }, STYLE_TEXT,
		label);
	place.column += 1 + bars.label;
	place.width -= 1 + bars.label;
	if (!why) {
		draw_bars(canvas, place, bars, series);
		return;
	}
	place.column++;
	place.width--;
	canvas_text(canvas, place, STYLE_DIM, why);
}

static void add_series(struct cpu_series *sum, const struct cpu_series *series, bool trend)
{
	for (int mode = 0; mode < MODES; mode++) {
		sum->mode[mode] += series->mode[mode];
		for (int i = 0; trend && i < TABLE_TREND; i++)
			sum->trend[i][mode] += series->trend[i][mode];
	}
}

/* Draws the busiest of these CPUs, as one column of the strip. */
static void draw_busiest(struct canvas *canvas, struct place place, const struct cpu_vitals *cpus,
	uint32_t count)
{
	const uint64_t *mode = cpus[0].series.mode;
	double most = -1;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *own = cpus[i].series.mode;
		double busy = share(own[MODE_KERNEL] + own[MODE_USER], sum_modes(own));

		if (busy > most) {
			most = busy;
			mode = own;
		}
	}
	glyphs_column(canvas, place, busier_style(mode), most);
}

/* A column for each CPU; if they do not fit, for each group of neighbours. Returns the rows used. */
static int draw_strip(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	uint32_t count = vitals->cpu_count, each = 1, columns, rows;
	char label[LABEL] = "each";
	int left = 6;

	if (area.columns < 2 * LABEL || area.rows < 1)
		return 0;
	columns = (uint32_t)(area.columns - LABEL / 2 - 1);
	rows = area.rows < STRIP_MOST ? (uint32_t)area.rows : STRIP_MOST;
	while (columns * rows < (count + each - 1) / each)
		each++;
	if (each > 1)
		left = 2 + snprintf(label, sizeof(label), "by %u", each);
	canvas_text(canvas, (struct place) { area.row, area.column + 1, left - 1 }, STYLE_DIM, label);
	for (uint32_t i = 0; i * each < count; i++) {
		struct place place = { area.row + (int)(i / columns),
			area.column + left + (int)(i % columns), 1 };
		uint32_t rest = count - i * each;

		draw_busiest(canvas, place, &vitals->cpus[i * each], rest < each ? rest : each);
	}
	return (int)(((count + each - 1) / each + columns - 1) / columns);
}

/* A line for all CPUs together, and below it a strip with a column for each. */
static int draw_summary(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	uint64_t trend[TABLE_TREND][MODES] = { 0 }, (*last)[MODES] = NULL;
	struct cpu_series all = { .trend = trend };
	char label[LABEL];

	for (uint32_t i = 0; i < vitals->cpu_count; i++) {
		const struct cpu_series *series = &vitals->cpus[i].series;

		add_series(&all, series, series->trend && series->trend != last);
		last = series->trend;
	}
	snprintf(label, sizeof(label), "%u %s", vitals->cpu_count,
		vitals->machines ? "machines" : "cpus");
	draw_cpu(canvas, (struct place) { area.row, area.column, area.columns },
		bars_layout((int)strlen(label), area.columns), label, NULL, &all);
	area.row++;
	area.rows--;
	return 1 + draw_strip(canvas, area, vitals);
}

/* Why this machine has no bars; NULL: it has some. */
static const char *why_empty(const struct machine_vitals *machine, const struct cpu_series *series)
{
	if (sum_modes(series->mode))
		return NULL;
	return !machine->known ? "not known yet" : machine->vm == VM_GONE ?
		state_words_of_vm(VM_GONE)->brief :
		machine->link != LINK_UP ? "says nothing" :
		machine->running ? "no sample in this window" : "off";
}

static void draw_machines(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	int width = 1;

	for (size_t i = 0; i < vitals->machine_count; i++) {
		int wanted = canvas_width(canvas, vitals->machines[i].name);

		width = wanted > width ? wanted : width;
	}
	width = width < LABEL ? width : LABEL;
	for (size_t i = 0; i < vitals->machine_count; i++) {
		const struct cpu_series *series = &vitals->cpus[i].series;

		draw_cpu(canvas, (struct place) { area.row + (int)i, area.column, area.columns },
			bars_layout(width, area.columns), vitals->machines[i].name,
			why_empty(&vitals->machines[i], series), series);
	}
}

static int draw_cpus(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	char label[LABEL];
	int width;

	if (!vitals->cpus || vitals->cpu_count == 0 || area.rows < 1)
		return 0;
	if (vitals->cpu_count > (uint32_t)area.rows || vitals->cpu_count > VITALS_OWN_TRENDS)
		return draw_summary(canvas, area, vitals);
	if (vitals->machines) {
		draw_machines(canvas, area, vitals);
		return (int)vitals->machine_count;
	}
	width = snprintf(label, sizeof(label), "cpu%u", vitals->cpu_count - 1);
	for (uint32_t i = 0; i < vitals->cpu_count; i++) {
		const struct cpu_vitals *cpu = &vitals->cpus[i];

		snprintf(label, sizeof(label), "cpu%u", i);
		draw_cpu(canvas, (struct place) { area.row + (int)i, area.column, area.columns },
			bars_layout(width, area.columns), label, why_not_sampled(vitals, cpu),
			&cpu->series);
	}
	return (int)vitals->cpu_count;
}

/* The CPUs have a third of the rows but for the title's line. Without rows for their lines, trends are not needed. */
enum vitals_cpus header_cpus(int rows)
{
	return rows / 3 > 1 ? VITALS_TRENDS : VITALS_CPUS;
}

int header_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope, const struct keys *keys)
{
	int used = title_draw(canvas, area, vitals, scope, keys);

	area.row += used;
	area.rows = area.rows / 3 - used;
	return used + draw_cpus(canvas, area, vitals);
}

/*
 * Remarks of the status line, the most important first: a wish is kept; the filter's machine is none of them; why
 * nothing new comes; periods were missed; why the gdb stub is on; what the plugin cannot see; what the timer sampler
 * cannot see. The first one that applies is shown.
 */
enum limit { LIMIT_KEPT, LIMIT_STRAY, LIMIT_NEWS, LIMIT_MISSED, LIMIT_STUB, LIMIT_PLUGIN, LIMIT_TIMER, LIMITS };

/* Periods were missed. What samples from outside may be late while the guest's CPUs run. */
static void missed_text(enum sampler sampler, double percent, char text[HEADER_REMARK])
{
	if (sampler == SAMPLER_STUB)
		snprintf(text, HEADER_REMARK, "No sample came for %.0f %% of the time: the stub is slow; is the "
			"host busy?", percent);
	else if (sampler == SAMPLER_OUTSIDE)
		snprintf(text, HEADER_REMARK, "No sample came for %.0f %% of the time: a busy host, or QEMU's -icount?",
			percent);
	else
		snprintf(text, HEADER_REMARK, "The host did not run the guest's CPUs for %.0f %% of the "
			"time: is it busy?", percent);
}

/* The machine may come later, so it is looked for with each drawing. */
static void stray_text(const struct vitals *vitals, const struct filter *filter, char text[HEADER_REMARK])
{
	const char *stray = emptiness_stray(vitals, filter);
	int used;

	if (!stray)
		return;
	used = snprintf(text, HEADER_REMARK, "No machine is called %s; there are:", stray);
	for (size_t i = 0; i < vitals->machine_count && used < HEADER_REMARK; i++)
		used += snprintf(text + used, (size_t)(HEADER_REMARK - used), "%s %s", i ? "," : "",
			vitals->machines[i].name);
}

/* The remark's text; "": it does not apply. */
static const char *limit_text(const struct vitals *vitals, const struct filter *filter,
	enum limit limit, const struct keys *keys, char text[HEADER_REMARK])
{
	char what_to_do[KEYS_TEXT];
	struct emptiness news = emptiness_of_news(vitals);
	double missed = title_missed(vitals, filter);

	text[0] = '\0';
	if (limit == LIMIT_KEPT && vitals->kept)
		snprintf(text, HEADER_REMARK, "Profiling %s when the guest answers; %s.",
			vitals->kept == KEPT_ON ? "starts" : "stops",
			keys_text(keys, "{profile} cancels that", what_to_do));
	else if (limit == LIMIT_STRAY)
		stray_text(vitals, filter, text);
	else if (limit == LIMIT_NEWS && news.why)
		snprintf(text, HEADER_REMARK, "%s %s", news.why,
			keys_text(keys, news.what_to_do, what_to_do));
	else if (limit == LIMIT_MISSED && missed > MISSED_TOLD)
		missed_text(vitals->sampler, 100 * missed, text);
	else if (limit == LIMIT_STUB && vitals->sampler == SAMPLER_STUB && vitals->running && !vitals->machines)
		snprintf(text, HEADER_REMARK, "%s", keys_text(keys, "The gdb stub began by itself; {profile} "
			"stops it. With ktop.ko: --source hook.", what_to_do));
	else if (limit == LIMIT_PLUGIN && vitals->sampler == SAMPLER_OUTSIDE && !vitals->machines)
		snprintf(text, HEADER_REMARK, "%s",
			"plugin: no trace events; a sample lands between two of QEMU's blocks of code");
	else if (limit == LIMIT_TIMER && vitals->sampler == SAMPLER_TIMER && !vitals->machines)
		snprintf(text, HEADER_REMARK, "%s",
			"timer: time with interrupts off is counted where they are enabled; nmi sees it");
	return text;
}

const char *header_remark(const struct vitals *vitals, const struct scope *scope, bool rows,
	const struct keys *keys, char text[HEADER_REMARK])
{
	const bool has_place[LIMITS] = {
		[LIMIT_KEPT] = true,
		[LIMIT_STRAY] = true,
		[LIMIT_NEWS] = rows,			/* without rows, the view tells it */
		[LIMIT_MISSED] = true,
		[LIMIT_STUB] = vitals->link == LINK_UP && !vitals->play.there,
		[LIMIT_PLUGIN] = vitals->link == LINK_UP,
		[LIMIT_TIMER] = vitals->link == LINK_UP,
	};

	for (int limit = 0; limit < LIMITS; limit++)
		if (has_place[limit] &&
				*limit_text(vitals, &scope->filter, limit, keys, text) &&
				!away_has(&scope->away, text))
			return text;
	text[0] = '\0';
	return text;
}

/* The remarks that apply now; with `before` not NULL, only those of them that were put away before. */
static struct away put_away(const struct vitals *vitals, const struct filter *filter,
	const struct keys *keys, const struct away *before)
{
	struct away away = { .count = 0 };
	char text[HEADER_REMARK];

	for (int limit = 0; limit < LIMITS; limit++)
		if (*limit_text(vitals, filter, limit, keys, text) &&
				(!before || away_has(before, text)))
			away_put(&away, text);
	remark_line_put_away(vitals, before, &away);
	return away;
}

bool header_dismiss(const struct vitals *vitals, struct scope *scope, bool rows,
	const struct keys *keys)
{
	char text[HEADER_REMARK];
	bool any = remark_line_any(vitals, scope) ||
		*header_remark(vitals, scope, rows, keys, text);

	scope->away = put_away(vitals, &scope->filter, keys, NULL);
	return any;
}

void header_settle(const struct vitals *vitals, struct scope *scope, const struct keys *keys)
{
	const struct away before = scope->away;

	if (before.count)
		scope->away = put_away(vitals, &scope->filter, keys, &before);
}
